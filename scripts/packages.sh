#!/usr/bin/env bash
# Tries the crates that are published as a stranger has them: packages them, unpacks them into an empty folder outside the tree, builds
# their examples there, with nothing but each other and what crates.io has, and tests those beside other implementations.
# Usage: scripts/packages.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_rust
ensure_debian jq:jq coap-client-openssl:libcoap3-bin openssl:openssl
ensure_pythons

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

metadata=$(cargo metadata --locked --no-deps --format-version 1)
mapfile -t packages < <(jq -r '.packages[] | select(.publish == null).name' <<<"$metadata")
cargo package --quiet --locked --allow-dirty --no-verify --target-dir "$folder/packed" "${packages[@]/#/--package=}"
for package in "$folder"/packed/package/*.crate; do tar -xzf "$package" -C "$folder"; done

# Each is found in this folder, as long as the registry does not have it.
{
    printf '[workspace]\nresolver = "3"\nmembers = ["sixlock-*"]\n[patch.crates-io]\n'
    jq -r '.packages[] | select(.publish == null) | "\(.name) = { path = \"\(.name)-\(.version)\" }"' <<<"$metadata"
} >"$folder/Cargo.toml"
cp Cargo.lock rust-toolchain.toml "$folder"
(cd "$folder" && CARGO_TARGET_DIR=$target/packages cargo build --quiet --examples)
echo "${#packages[@]} packages: their examples are built outside the tree"
SIXLOCK_EXAMPLES=$target/packages/debug/examples cargo test --quiet --locked --workspace --test examples
