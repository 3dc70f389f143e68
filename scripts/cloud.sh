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
ensure_debian taskset:util-linux
build_load
if [ -n "$beside" ]; then
    ensure_debian coap-server-openssl:libcoap3-bin java:default-jdk-headless mvn:maven
    mvn --quiet --batch-mode --file interop/californium/pom.xml dependency:copy-dependencies -DoutputDirectory="$built/californium" >&2
    cp interop/californium/Server.java "$built/californium/"
    arguments+=(--beside "$built/californium")
fi
# The servers have the first core for themselves, the devices another, if there is one.
exec taskset --cpu-list "$(($(nproc) - 1))" "$built/sixlock-load" cloud "$built/sixlock" "$built" --core 0 "${arguments[@]}"
