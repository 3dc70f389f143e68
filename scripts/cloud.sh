#!/usr/bin/env bash
# Measures what the cloud does in a second of its processor's time, and what a session takes of its memory, beside
# Californium and libcoap.
# Usage: scripts/cloud.sh [--alone] [--shards N] [--sessions N] [--only WORDS] [--seconds N] [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

beside=1 arguments=()
for argument; do
    if [ "$argument" = --alone ]; then beside=; else arguments+=("$argument"); fi
done
ensure_rust
ensure_debian taskset:util-linux
build_web >&2
cargo build --quiet --locked --release --workspace --bin sixlock --bin sixlock-load
built=$(realpath "${CARGO_TARGET_DIR:-target}")/release
if [ -n "$beside" ]; then
    ensure_debian coap-server-openssl:libcoap3-bin java:default-jdk-headless mvn:maven
    mvn --quiet --batch-mode --file interop/californium/pom.xml dependency:copy-dependencies -DoutputDirectory="$built/californium" >&2
    cp interop/californium/Server.java "$built/californium/"
    arguments+=(--beside "$built/californium")
fi
# Each session of the devices has a socket.
ulimit -n "$(ulimit -Hn)"
# The servers have the first core for themselves, the devices another, if there is one. The database goes where the build
# goes: /tmp may be memory.
exec taskset --cpu-list "$(($(nproc) - 1))" "$built/sixlock-load" cloud "$built/sixlock" "$built" --core 0 "${arguments[@]}"
