#!/usr/bin/env bash
# Measures the cryptographic primitives on each microcontroller, in its emulator: what they take, how much stack they
# use, and whether they give what published vectors say. Usage: scripts/primitives.sh [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh

ensure_emulators

images=()
report() {
    images+=("$1=$path")
}
link cortex-m3 sixlock-primitives
link msp430f1611 sixlock-primitives
link atmega128 sixlock-primitives
exec cargo run --quiet --locked -p sixlock-emulator --example primitives -- "$@" "${images[@]}"
