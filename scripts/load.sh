#!/usr/bin/env bash
# Measures the cloud under load, as it is released: sixlock-load says how.
# Usage: scripts/load.sh cloud|ingest|sessions|restart|siege|import [OPTION...]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

what=${1:?usage: scripts/load.sh cloud|ingest|sessions|restart|siege|import [OPTION...]}
shift
build_load
pinned=() options=()
case $what in
cloud | siege)
    ensure_debian taskset:util-linux openssl:openssl
    # The cloud has the first core for itself, all others another, if there is one.
    pinned=(taskset --cpu-list "$(($(nproc) - 1))") options=(--core 0)
    ;;
ingest) ensure_debian coap-server-openssl:libcoap3-bin ;;
esac
if [ "$what" = cloud ] && [[ " $* " != *" --alone "* ]]; then
    ensure_debian coap-server-openssl:libcoap3-bin java:default-jdk-headless mvn:maven
    mvn --quiet --batch-mode --file interop/californium/pom.xml dependency:copy-dependencies -DoutputDirectory="$built/californium" >&2
    cp interop/californium/Server.java "$built/californium/"
    options+=(--beside "$built/californium")
fi
exec "${pinned[@]}" "$built/sixlock-load" "$what" "$built/sixlock" "$built" "${options[@]}" "$@"
