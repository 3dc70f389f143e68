#!/usr/bin/env bash
# Measures the images for the MSP430 that stand beside those of Raza et al. (2012) and of the thesis: flash, static RAM, and the
# stack's peak while each runs in its emulator. Compares them with costs/raza2012-msp430f1611.csv, which sixlock eval
# raza2012-table1 and thesis-table11 read: none may have outgrown what that says by more than 2 %. Usage:
# scripts/raza2012.sh [--accept]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh
ensure_emulators
cargo build --quiet --locked --package sixlock-sim --package sixlock-emulator --example stack --example transform
examples=${CARGO_TARGET_DIR:-$PWD/target}/debug/examples

# run IMAGE - prints the stack's peak, if the image does what it is for; of a protocol alone, what that takes of it.
run() {
    local without
    case $1 in
    udp-none) "$examples/stack" tmote-sky none echo ;;
    udp-llsec) "$examples/stack" tmote-sky llsec echo ;;
    udp-ah-xcbc) "$examples/stack" tmote-sky ah:xcbc echo ;;
    udp-ah-xcbc-leaf) "$examples/stack" tmote-sky ah:xcbc leaf "$path" ;;
    udp-esp-ctr-xcbc) "$examples/stack" tmote-sky esp:ctr-xcbc echo ;;
    ah-xcbc | esp-ctr-xcbc)
        without=$("$examples/transform" none "${path%/*}/datagrams")
        echo $(($("$examples/transform" "${1%%-*}" "$path") - without))
        ;;
    esac
}

kept=costs/raza2012-msp430f1611.csv
measured=$(mktemp)
trap 'rm -f "$measured"' EXIT
{
    echo '# Measured by ./bench raza2012, and written by ./bench raza2012 --accept alone.'
    echo "# Bytes on the MSP430; stacks by mspdebug; compiled by $(rustc "+$NIGHTLY" --version)"
    echo 'image,flash,ram,stack'
} >"$measured"
report() {
    local peak
    peak=$(run "$2")
    echo "$2,$3,$4,$peak" >>"$measured"
}
link msp430f1611 udp-none udp-llsec udp-ah-xcbc udp-ah-xcbc-leaf udp-esp-ctr-xcbc datagrams ah-xcbc esp-ctr-xcbc

if [ "${1-}" = --accept ]; then
    cp "$measured" "$kept"
fi
diff --unified "$kept" "$measured" || echo "./bench raza2012 --accept writes what the images take now."
awk -F, '
    /^#/ || $1 == "image" { next }
    FNR == NR { for (i = 2; i <= 4; i++) kept[$1, i] = $i; next }
    { for (i = 2; i <= 4; i++) if ($i > kept[$1, i] * 1.02) { print $1 " has outgrown what is said of it"; grown = 1 } }
    END { exit grown }' "$kept" "$measured" || fail "Find out why (./bench crates); if that should be, ./bench raza2012 --accept writes it"
