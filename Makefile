# Every target installs what is missing first. `make demo` and `make test` are all the set-up there is.

# Outside the checkout, so that a fresh clone does not compile RocksDB again.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/cairn/target

CARGO ?= cargo
# One profile and one choice of packages for everything. With `-p` cargo would choose other features for the
# dependencies that the packages share, and compile RocksDB again.
WHOLE := --release --locked --workspace

.PHONY: demo test lint build dependencies

## From nothing to a bootstrapped node: generate a chain, seed it, sync a fresh node from the seed.
demo: build
	"$(CARGO_TARGET_DIR)/release/cairn" demo

## All tests. The end-to-end tests run the built binary.
test: build
	$(CARGO) test $(WHOLE)

## Formatting, lints, documentation; warnings are errors.
lint: dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(WHOLE) --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc $(WHOLE) --no-deps

build: dependencies
	$(CARGO) build $(WHOLE)

dependencies:
	@scripts/install-build-dependencies.sh
