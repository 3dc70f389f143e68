#!/usr/bin/env bash
# Measures how long `sixlock keys import` takes for 10,000 devices, with the cloud running and stopped.
# Usage: scripts/import.sh [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

case ${1-} in
'' | --json) ;;
*)
    echo "usage: ./bench import [--json]" >&2
    exit 2
    ;;
esac
devices=10000

ensure_rust
build_web >&2
cargo build --quiet --locked --release -p sixlock
# The database goes where the build goes: /tmp may be memory.
sixlock=$(realpath "${CARGO_TARGET_DIR:-target}/release/sixlock")
place=$(mktemp -d "$(dirname "$sixlock")/import-XXXXXX")
cloud=
finish() {
    [ -z "$cloud" ] || kill "$cloud" 2>/dev/null || true
    wait
    rm -rf "$place"
}
trap finish EXIT

"$sixlock" cloud --data "$place/data" --listen 127.0.0.1:0 --coaps 127.0.0.1:0 >"$place/said" &
cloud=$!
until grep -q '^ready ' "$place/said"; do
    kill -0 "$cloud"
    sleep 0.1
done

# seconds NAME - imports devices called after NAME and prints how long that took.
seconds() {
    {
        echo label,mode
        seq -f "$1-%.0f,dtls-psk" "$devices"
    } >"$place/$1.csv"
    local TIMEFORMAT=%R
    { time "$sixlock" keys import "$place/$1.csv" --data "$place/data" >"$place/$1.said" 2>&1; } 2>&1
    grep -q "^$devices devices are enrolled" "$place/$1.said" || {
        cat "$place/$1.said" >&2
        return 1
    }
}
running=$(seconds running)
kill "$cloud"
wait "$cloud"
cloud=
stopped=$(seconds stopped)

if [ "${1-}" = --json ]; then
    echo "{\"devices\":$devices,\"running_s\":$running,\"stopped_s\":$stopped}"
else
    echo "$devices devices imported in $running s with the cloud running, in $stopped s with it stopped"
fi
