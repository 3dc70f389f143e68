#!/usr/bin/env bash
# Fuzzes every entry point, or those named. Usage: scripts/fuzz.sh SECONDS [ENTRY_POINT...]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

seconds=${1:?usage: scripts/fuzz.sh SECONDS [ENTRY_POINT...]}
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
for entry_point in "$@"; do
    # What is found goes to the first folder; seeds are only read.
    mkdir -p "fuzz/corpus/$entry_point"
    log=$(mktemp)
    if "${fuzz[@]}" run "${options[@]}" "$entry_point" "fuzz/corpus/$entry_point" "fuzz/seeds/$entry_point" -- \
        -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=1024 >"$log" 2>&1; then
        printf '%-14s %s\n' "$entry_point" "$(grep -E '^Done' "$log")"
        rm "$log"
    else
        cat "$log"
        fail "The entry point $entry_point has a defect. Its input is in fuzz/artifacts/$entry_point/: put it into fuzz/seeds/$entry_point/, and see it with: cargo test -p sixlock-entry-points"
    fi
done
