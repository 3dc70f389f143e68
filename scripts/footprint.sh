#!/usr/bin/env bash
# Measures the images that devices run: flash and static RAM as linked, and the stack's peak while each runs in an emulator:
# nodes between two native ones (crates/sim/examples/stack.rs); border routers between a host and a node, a sniffer beside all
# kinds of frames, and DTLS alone with a server (crates/emulator/examples/). Usage: scripts/footprint.sh [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh
ensure_emulators
PATH="$PATH:$TOOLS/simavr-gdb"
cargo build --quiet --locked --package sixlock-sim --package sixlock-emulator --example stack --example bridge --example sniffer \
    --example dtls
examples=${CARGO_TARGET_DIR:-$PWD/target}/debug/examples

# run PLATFORM VARIANT - prints the stack's peak, if everything arrives that the nodes send.
run() {
    local board security traffic=report target cargo suffix secured=() mac=()
    case $1 in
    cortex-m3) board=mb851 ;;
    msp430f1611) board=tmote-sky ;;
    atmega128) board=micaz ;;
    esac
    case $2 in
    sniffer | bridge | bridge-llsec | dtls-*-client)
        choose "$1"
        [ "$2" != bridge-llsec ] || secured=(secured)
        "$examples/${2%%-*}" "$target_directory/$target/release/$2$suffix" "${secured[@]}"
        return
        ;;
    udp-*) traffic='echo' ;;
    esac
    case $2 in
    *-none) security=none ;;
    *-none-nullmac) security=none mac=(null) ;;
    *-llsec) security=llsec ;;
    *-ah-xcbc) security=ah:xcbc ;;
    *-esp-ctr-xcbc) security=esp:ctr-xcbc ;;
    *-dtls-psk | *-dtls-psk-client) security=dtls-psk ;;
    *-dtls-rpk | *-dtls-rpk-client) security=dtls-rpk ;;
    *-dtls-x509 | *-dtls-x509-client) security=dtls-x509 ;;
    *-dtls-*-server) security=${2#coap-} security=${security%-server} traffic=serve ;;
    esac
    "$examples/stack" "$board" "$security" "$traffic" "${mac[@]}"
}

# lent PLATFORM VARIANT - prints what of the RAM of DTLS alone is lent to it for its handshake, and given back then.
lent() {
    local target cargo suffix size
    choose "$1"
    size=$("$tools/llvm-nm" --print-size "$target_directory/$target/release/$2$suffix" | awk '$NF == "HANDSHAKE" { print $2 }')
    echo $((16#$size))
}

if [ "${1-}" = --json ]; then
    separator='['
    report() {
        local peak runs=true
        peak=$(run "$1" "$2") || peak=null runs=false
        printf '%s{"platform":"%s","variant":"%s","flash":%d,"ram":%d,"stack":%s,"runs":%s' \
            "$separator" "$@" "$peak" "$runs"
        case $2 in dtls-*-client) printf ',"ram_after_handshake":%d' $(($4 - $(lent "$1" "$2"))) ;; esac
        printf '}'
        separator=','
    }
else
    printf '%-12s %-22s %8s %11s %7s %9s\n' platform variant flash 'static RAM' stack 'RAM in all'
    declare -A flash_of ram_of
    report() {
        local peak
        flash_of[$1/$2]=$3 ram_of[$1/$2]=$4
        if peak=$(run "$1" "$2"); then
            printf '%-12s %-22s %8d %11d %7d %9d\n' "$@" "$peak" $(($4 + peak))
        else
            printf '%-12s %-22s %8d %11d  does not run: the message above says why\n' "$@"
        fi
    }
fi

images
if [ "${1-}" = --json ]; then
    echo ']'
else
    # feature NAME IMAGE WITHOUT - prints what an image takes more than one without the feature.
    feature() {
        local platform
        for platform in cortex-m3 msp430f1611 atmega128; do
            [ -n "${flash_of[$platform/$2]-}" ] || continue
            printf '%-12s %-38s %8d %11d   %s\n' "$platform" "$1" $((flash_of[$platform/$2] - flash_of[$platform/$3])) \
                $((ram_of[$platform/$2] - ram_of[$platform/$3])) "$2 less $3"
        done
    }
    printf '\n%-12s %-38s %8s %11s\n' platform 'what a feature takes' flash 'static RAM'
    feature 'CSMA-CA and acknowledgements' udp-none udp-none-nullmac
    feature 'link security' udp-llsec udp-none
    feature 'AH, AES-XCBC-MAC-96' udp-ah-xcbc udp-none
    feature 'ESP, AES-CTR and AES-XCBC-MAC-96' udp-esp-ctr-xcbc udp-none
    feature 'DTLS, a server that sends back what it gets' udp-dtls-psk udp-none
    feature 'CoAP and readings, posted and served' coap-none udp-none
    feature 'DTLS instead of serving in the clear' coap-dtls-psk-client coap-none
    feature 'raw public keys instead of a pre-shared one' coap-dtls-rpk-client coap-dtls-psk-client
    feature 'certificates instead of raw public keys' coap-dtls-x509-client coap-dtls-rpk-client
    feature 'a DTLS server instead of a client' coap-dtls-psk-server coap-dtls-psk-client
    echo
    echo 'dtls-psk-client, dtls-rpk-client and dtls-x509-client are DTLS and its cryptography alone: an image with them less one'
    echo 'without. After the handshake each has so many bytes of RAM less, which were lent to it:'
    for lent in cortex-m3/dtls-{psk,rpk,x509}-client {msp430f1611,atmega128}/dtls-psk-client; do
        echo "$(lent "${lent%/*}" "${lent#*/}") (${lent#*/}, ${lent%/*})"
    done
    cat <<'PUBLISHED'

The chips:          flash     RAM
MB851, smaller     131072    8192   (Cortex-M3; the images are laid out in this much)
Tmote Sky           49152   10240   (MSP430F1611)
MicaZ              131072    4096   (ATmega128L)

Others' DTLS with a pre-shared key alone, on Cortex-M3:
                    flash     RAM
tinydtls            20500    1600
mbedTLS 2.28        22200    1600   (client; 2400 in the handshake, 1000 of stack)

Others' DTLS with ECDHE and ECDSA alone, on Cortex-M3:
                    flash     RAM
tinydtls            26400           (raw public keys)
mbedTLS 2.28        48500    7300   (certificates, client; in the handshake; 2800 of stack)

Others' whole nodes, CoAP with DTLS and a pre-shared key:
                    flash     RAM
thesis, Tmote Sky   64212   12492   (did not fit; 38562 and 9302 without AES, RPL, CSMA and duty cycling)
Contiki-NG 5.0      76400   29800   (Cortex-M3; without DTLS 53500 and 12700, UDP server 42200 and 12100)
PUBLISHED
fi
