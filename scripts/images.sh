#!/usr/bin/env bash
# Links the images that devices run, for each microcontroller those that fit it, and prints their sizes. On Cortex-M3 a node
# with DTLS and a pre-shared key may take 40 KB of flash at most, one with public keys 72 KB, and 12 KB of RAM, stack included, of
# which they are laid out in 8; DTLS alone 12 KB with such a key, 24 KB with raw public keys and
# 32 KB, and 3 KB of RAM, with certificates. DTLS alone runs, too, and its handshake may take 2 KB of stack.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh
ensure_emulators
cargo build --quiet --locked --package sixlock-emulator --example dtls
dtls=${CARGO_TARGET_DIR:-$PWD/target}/debug/examples/dtls

printf '%-14s %-22s %9s %11s\n' platform variant flash 'static RAM'
report() {
    printf '%-14s %-22s %9d %11d\n' "$@"
    local most=$3 most_ram=$4
    case $1/$2 in
    cortex-m3/coap-dtls-psk-*) most=40960 ;;
    cortex-m3/*-dtls-rpk* | cortex-m3/*-dtls-x509*) most=73728 ;;
    cortex-m3/dtls-psk-client) most=12288 ;;
    cortex-m3/dtls-rpk-client) most=24576 ;;
    cortex-m3/dtls-x509-client) most=32768 most_ram=3072 ;;
    esac
    [ "$3" -le "$most" ] || fail "$2 has grown beyond $((most / 1024)) KB on $1: ./bench footprint shows the others"
    [ "$4" -le "$most_ram" ] || fail "$2 takes more than $((most_ram / 1024)) KB of RAM on $1: ./bench footprint shows the others"
    case $1/$2 in
    cortex-m3/dtls-*-client)
        local stack
        stack=$("$dtls" "$path")
        [ "$stack" -le 2048 ] || fail "$2 takes $stack bytes of stack on $1, which is more than 2 KB: ./bench footprint shows the others"
        ;;
    esac
}
images
