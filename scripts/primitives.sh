#!/usr/bin/env bash
# Measures the cryptographic primitives on each microcontroller, in its emulator: what they take, how much stack they
# use, and whether they give what published vectors say. Usage: scripts/primitives.sh [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh

ensure_emulators

everywhere sixlock-primitives sixlock-granjal-2008
exec cargo run --quiet --locked -p sixlock-emulator --example primitives -- "$@" "${linked[@]}"
