#!/usr/bin/env bash
# Links the images for boards that one can buy, and prints their sizes. They do not run here: no emulator has their radios.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh

printf '%-14s %9s %11s\n' board flash 'static RAM'
# board NAME TARGET - links its image, and checks its drivers' code.
board() {
    local name=$1 target=$2 flash ram
    cd firmware/boards
    export CARGO_TARGET_DIR=$target_directory/boards
    cargo clippy --quiet --locked --release --target "$target" -p "sixlock-$name" -- -D warnings
    cargo build --quiet --locked --release --target "$target" -p "sixlock-$name" || fail "The image for $name does not link"
    read -r flash ram < <(flash_and_ram "$CARGO_TARGET_DIR/$target/release/sixlock-$name")
    printf '%-14s %9d %11d\n' "$name" "$flash" "$ram"
    cd - >/dev/null
}
board nrf52840-dk thumbv7em-none-eabihf
board openmote thumbv7m-none-eabi
