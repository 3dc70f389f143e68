#!/usr/bin/env bash
# Measures the images that stand beside those of a paper: flash, static RAM, and the stack's peak while each runs in its emulator.
# Compares them with what costs/ keeps for sixlock eval: none may have outgrown what that says by more than 2 %.
# - raza2012: on the MSP430, beside Raza et al. (2012) and the thesis: raza2012-table1, thesis-table11 to -table14
# - derubertis2013: on the Cortex-M3, beside De Rubertis et al. (2013): derubertis2013-fig7
# - securesense: on the Cortex-M3, beside Raza et al. (2017): securesense-fig18
# Usage: scripts/beside.sh raza2012|derubertis2013|securesense [--accept]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh

paper=$1
case $paper in
raza2012)
    platform=msp430f1611 board=tmote-sky chip='the MSP430; stacks by mspdebug' compiler="+$NIGHTLY"
    images=(udp-none udp-llsec udp-ah-xcbc udp-ah-xcbc-leaf udp-esp-ctr-xcbc coap-dtls-psk-client coap-dtls-psk-server
        datagrams ah-xcbc esp-ctr-xcbc)
    ;;
derubertis2013)
    platform=cortex-m3 board=mb851 chip='the Cortex-M3; stacks by QEMU' compiler=
    images=(udp-none udp-ah-xcbc udp-esp-ctr-xcbc udp-dtls-psk)
    ;;
securesense)
    platform=cortex-m3 board=openmote chip='the Cortex-M3; stacks by QEMU' compiler=
    images=(udp-none udp-dtls-{psk,rpk,x509} coap-none coap-dtls-{psk,rpk,x509}-{client,server})
    ;;
*) fail "$paper is not raza2012, derubertis2013 or securesense" ;;
esac
ensure_emulators
cargo build --quiet --locked --package sixlock-sim --package sixlock-emulator --example stack --example transform
examples=${CARGO_TARGET_DIR:-$PWD/target}/debug/examples

# run IMAGE - prints the stack's peak, if the image does what it is for; of a protocol alone, what that takes of it.
run() {
    local without
    case $1 in
    udp-none) "$examples/stack" "$board" none echo ;;
    udp-llsec) "$examples/stack" "$board" llsec echo ;;
    udp-ah-xcbc) "$examples/stack" "$board" ah:xcbc echo ;;
    udp-ah-xcbc-leaf) "$examples/stack" "$board" ah:xcbc leaf "$path" ;;
    udp-esp-ctr-xcbc) "$examples/stack" "$board" esp:ctr-xcbc echo ;;
    udp-dtls-*) "$examples/stack" "$board" "${1#udp-}" echo ;;
    coap-none) "$examples/stack" "$board" none report ;;
    coap-dtls-*-client) without=${1%-client} && "$examples/stack" "$board" "${without#coap-}" report ;;
    coap-dtls-*-server) without=${1%-server} && "$examples/stack" "$board" "${without#coap-}" serve ;;
    ah-xcbc | esp-ctr-xcbc)
        without=$("$examples/transform" none "${path%/*}/datagrams")
        echo $(($("$examples/transform" "${1%%-*}" "$path") - without))
        ;;
    esac
}

kept=costs/$paper-$platform.csv
measured=$(mktemp)
trap 'rm -f "$measured"' EXIT
{
    echo "# Measured by ./bench $paper, and written by ./bench $paper --accept alone."
    echo "# Bytes on $chip; compiled by $(rustc ${compiler:+"$compiler"} --version)"
    echo 'image,flash,ram,stack'
} >"$measured"
report() {
    local peak
    peak=$(run "$2")
    echo "$2,$3,$4,$peak" >>"$measured"
}
link "$platform" "${images[@]}"

if [ "${2-}" = --accept ]; then
    cp "$measured" "$kept"
fi
diff --unified "$kept" "$measured" || echo "./bench $paper --accept writes what the images take now."
if [ "$paper" = raza2012 ]; then
    # What AH and ESP may take beyond the image without them: docs/decisions/0021-ipsec-shape.md.
    awk -F, '
        { flash[$1] = $2 }
        function show(image, most,    taken) {
            taken = flash[image] - flash["udp-none"]
            printf "%s: %d bytes of flash beyond udp-none, of %d at most: %s\n", image, taken, most, (taken > most ? "does not hold" : "holds")
        }
        END { show("udp-ah-xcbc", 10340); show("udp-esp-ctr-xcbc", 10200) }' "$measured"
fi
awk -F, '
    /^#/ || $1 == "image" { next }
    FNR == NR { for (i = 2; i <= 4; i++) kept[$1, i] = $i; next }
    { for (i = 2; i <= 4; i++) if ($i > kept[$1, i] * 1.02) { print $1 " has outgrown what is said of it"; grown = 1 } }
    END { exit grown }' "$kept" "$measured" || fail "Find out why (./bench crates); if that should be, ./bench $paper --accept writes it"
