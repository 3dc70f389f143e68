#!/usr/bin/env bash
# Links the probe image of each microcontroller, checks what is in it and prints its size.
# Usage: scripts/probes.sh [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh

if [ "${1-}" = --json ]; then
    separator='['
    report() {
        printf '%s{"platform":"%s","variant":"probe","flash":%d,"ram":%d}' "$separator" "$1" "$3" "$4"
        separator=','
    }
else
    echo 'Every crate of the device floors in one image; static RAM: the largest machine, one at a time.'
    printf '%-14s %16s %16s\n' platform 'flash (of)' 'static RAM (of)'
    report() {
        local flash=262144 ram=65536 note=
        case $1 in
        msp430f1611) flash=49152 ram=10240 ;;
        atmega128) flash=131072 ram=4096 ;;
        esac
        [ "$3" -le "$flash" ] && [ "$4" -le "$ram" ] || note='  more than the chip has: linked, but would not run'
        printf '%-14s %8d %7d %8d %7d%s\n' "$1" "$3" "$flash" "$4" "$ram" "$note"
    }
fi

link cortex-m3 sixlock-probe
link msp430f1611 sixlock-probe
link atmega128 sixlock-probe
[ "${1-}" != --json ] || echo ']'
