#!/usr/bin/env bash
# Measures what tasks take on each microcontroller: cryptographic operations, and the steps of the stack in emulated nodes
# between native ones. Holds the figures against round trips that they were not found from, and compares them with costs/.
# Usage: scripts/costs.sh [--operations] [--json] [--accept]
#
# --operations leaves out the nodes; --accept writes what was measured to costs/, and shows what it changes.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh
ensure_emulators
PATH="$PATH:$TOOLS/simavr-gdb"

arguments=()
images=()
report() {
    case $2 in sixlock-operations | sixlock-p256) images+=("$1=$path") ;; esac
}
# counted PLATFORM HOW COMPILER...
counted() {
    arguments+=("$1" "$2" "$("${@:3}" --version)")
    link "$1" sixlock-operations sixlock-p256
}
qemu=$(qemu-system-arm --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')
mspdebug=$(mspdebug --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')
counted cortex-m3 "instructions, exact, by QEMU $qemu; that 4/3 cycles go to each is an estimate" rustc
counted msp430f1611 "cycles, exact, by TI's table (SLAU049), checked against mspdebug $mspdebug" rustc "+$NIGHTLY"
counted atmega128 "cycles, exact, by simavr" rustc "+$NIGHTLY"
[[ " $* " = *" --operations "* ]] || images

cases=$(mktemp)
trap 'rm -f "$cases"' EXIT
cargo run --quiet --locked -p sixlock-emulator --example primitives -- --json "${images[@]}" >"$cases"
cargo run --quiet --locked -p sixlock-sim --example costs -- "$@" "$cases" "${arguments[@]}"
