# Every target installs what is missing first. `make demo` and `make test` are all the set-up there is.

# Outside the checkout, so that a fresh clone does not compile RocksDB again.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/cairn/target

CARGO ?= cargo
# One profile for everything: RocksDB and libp2p are compiled once.
PROFILE := --release --locked

.PHONY: demo test lint build dependencies

## From nothing to a bootstrapped node: generate a chain, seed it, sync a fresh node from the seed.
demo: build
	"$(CARGO_TARGET_DIR)/release/cairn" demo

## All tests. The end-to-end tests run the built binary.
test: build
	$(CARGO) test $(PROFILE) --workspace

## Formatting, lints, documentation; warnings are errors.
lint: dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(PROFILE) --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(PROFILE) --workspace --no-deps

build: dependencies
	$(CARGO) build $(PROFILE) -p cairn-node

dependencies:
	@scripts/install-build-dependencies.sh
