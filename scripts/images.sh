#!/usr/bin/env bash
# Links the images that devices run, for each microcontroller those that fit it, and prints their sizes. On Cortex-M3 a node
# with DTLS may take 40 KB of flash at most, and DTLS alone 12 KB.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh

printf '%-14s %-22s %9s %11s\n' platform variant flash 'static RAM'
report() {
    printf '%-14s %-22s %9d %11d\n' "$@"
    local most=$3
    case $1/$2 in
    cortex-m3/coap-dtls-psk-*) most=40960 ;;
    cortex-m3/dtls-psk-client) most=12288 ;;
    esac
    [ "$3" -le "$most" ] || fail "$2 has grown beyond $((most / 1024)) KB on $1: ./bench footprint shows the others"
}
images
