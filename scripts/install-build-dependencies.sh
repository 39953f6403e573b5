#!/usr/bin/env bash
# Installs what the build needs besides a Rust toolchain: a C++ compiler (RocksDB is built from source) and
# libclang (RocksDB's bindings are generated from its headers). Does nothing where both are there.
set -euo pipefail

say() { printf 'build dependencies: %s\n' "$*" >&2; }

# libclang-cpp is another library that many systems have without this one: its name must not count.
have_libclang() {
  [ -n "${LIBCLANG_PATH:-}" ] && return 0
  local folder
  for folder in '/usr/lib/llvm-*/lib' '/usr/lib*' '/usr/lib/*' '/usr/local/lib*'; do
    compgen -G "$folder/libclang.so*" >/dev/null && return 0
    compgen -G "$folder/libclang-[0-9]*.so*" >/dev/null && return 0
  done
  [ "$(uname)" = Darwin ] && command -v xcrun >/dev/null && return 0
  return 1
}

missing=()
command -v c++ >/dev/null || missing+=(g++)
command -v make >/dev/null || missing+=(make)
have_libclang || missing+=(libclang-dev)
command -v cargo >/dev/null || { say "cargo is missing: install a Rust toolchain from your system or from rustup"; exit 1; }
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  say "missing: ${missing[*]} (names of Debian's packages). Install their like with your system's package manager"
  exit 1
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { say "missing: ${missing[*]}; run as root: apt-get install ${missing[*]}"; exit 1; }
  sudo=(sudo)
fi
say "installing ${missing[*]}"
"${sudo[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
