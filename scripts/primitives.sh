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
for platform in cortex-m3 msp430f1611 atmega128; do
    link "$platform" sixlock-primitives sixlock-granjal-2008
done
exec cargo run --quiet --locked -p sixlock-emulator --example primitives -- "$@" "${images[@]}"
