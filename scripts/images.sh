#!/usr/bin/env bash
# Links the images that devices run, for each microcontroller those that fit it, and prints their sizes. A node with DTLS
# may take 40 KB of flash at most on Cortex-M3.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh

printf '%-14s %-22s %9s %11s\n' platform variant flash 'static RAM'
report() {
    printf '%-14s %-22s %9d %11d\n' "$@"
    [ "$1/$2" != cortex-m3/coap-dtls-psk-client ] || [ "$3" -le 40960 ] ||
        fail "$2 has grown beyond 40 KB on $1: ./bench footprint shows the others"
}
images
