#!/usr/bin/env bash
# Runs a core of Wycheproof's cases on each microcontroller, in its emulator; the tests of sixlock-crypto run all of
# them on the host. Usage: scripts/wycheproof.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh

ensure_emulators

everywhere sixlock-wycheproof
exec cargo run --quiet --locked -p sixlock-emulator --example wycheproof -- "${linked[@]}"
