#!/usr/bin/env bash
# Fuzzes every door, or those named. Usage: scripts/fuzz.sh SECONDS [DOOR...]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

seconds=${1:?usage: scripts/fuzz.sh SECONDS [DOOR...]}
shift
ensure_rust
ensure_nightly
ensure_cargo_fuzz
ensure_debian c++:g++

if [ $# -eq 0 ]; then
    for target in fuzz/fuzz_targets/*.rs; do
        set -- "$@" "$(basename "$target" .rs)"
    done
fi

# The code under test has no unsafe: panics and broken promises are what there is to find, so no sanitizer.
fuzz=(cargo "+$NIGHTLY" fuzz)
options=(--sanitizer none --debug-assertions --target-dir "${CARGO_TARGET_DIR:-$PWD/target}/fuzz")
"${fuzz[@]}" build "${options[@]}"
for door in "$@"; do
    # What is found goes to the first folder; seeds are only read.
    mkdir -p "fuzz/corpus/$door"
    log=$(mktemp)
    if "${fuzz[@]}" run "${options[@]}" "$door" "fuzz/corpus/$door" "fuzz/seeds/$door" -- \
        -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=1024 >"$log" 2>&1; then
        printf '%-14s %s\n' "$door" "$(grep -E '^Done' "$log")"
        rm "$log"
    else
        cat "$log"
        fail "The door $door has a defect. Its input is in fuzz/artifacts/$door/: put it into fuzz/seeds/$door/, and see it with: cargo test -p sixlock-doors"
    fi
done
