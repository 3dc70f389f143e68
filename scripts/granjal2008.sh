#!/usr/bin/env bash
# Measures the algorithms of Granjal et al. (2008) on the ATmega128 in its emulator, and compares them with
# costs/granjal2008-atmega128.csv, which sixlock eval granjal2008-table3 reads. Usage: scripts/granjal2008.sh [--accept]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh
ensure_emulators

kept=costs/granjal2008-atmega128.csv
measured=$(mktemp)
trap 'rm -f "$measured"' EXIT
report() {
    {
        echo '# Measured by ./bench granjal2008, and written by ./bench granjal2008 --accept alone.'
        echo "# Cycles on the ATmega128, exact, by simavr; compiled by $(rustc "+$NIGHTLY" --version)"
        echo 'primitive,bytes,cycles'
        cargo run --quiet --locked -p sixlock-emulator --example primitives -- --json "$1=$path" |
            sed -n 's/.*"primitive":"\([^"]*\)","bytes":\([0-9]*\),"count":\([0-9]*\),.*"right":true.*/\1,\2,\3/p'
    } >"$measured"
}
link atmega128 sixlock-granjal-2008

if [ "${1-}" = --accept ]; then
    cp "$measured" "$kept"
fi
diff --unified "$kept" "$measured" || fail "The algorithms take other times than $kept says: if they should, ./bench granjal2008 --accept writes what they take now"
cat "$kept"
