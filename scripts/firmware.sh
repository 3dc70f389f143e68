#!/usr/bin/env bash
# Builds the images of firmware/ and measures them, with the tools that this needs.
# Usage: scripts/firmware.sh COMMAND [ARGUMENT...]; scripts/firmware.sh --help lists the commands.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_rust
ensure_nightly
ensure_debian avr-gcc:gcc-avr /usr/lib/avr/include/avr/io.h:avr-libc
case ${1-} in
probes | boards | crates | -*) ;;
*) ensure_emulators ;;
esac
export NIGHTLY
cargo build --quiet --locked --workspace --bin sixlock-measure
exec "${CARGO_TARGET_DIR:-target}/debug/sixlock-measure" "$@"
