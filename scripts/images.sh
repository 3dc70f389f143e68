#!/usr/bin/env bash
# Links the images that devices run, for each microcontroller those that fit it, and prints their sizes.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh

printf '%-14s %-22s %9s %11s\n' platform variant flash 'static RAM'
report() {
    printf '%-14s %-22s %9d %11d\n' "$@"
}

plain=(udp-none udp-llsec coap-none coap-llsec)
link cortex-m3 "${plain[@]}" coap-dtls-psk-client
link msp430f1611 "${plain[@]}"
