#!/usr/bin/env bash
# Measures how many readings the cloud keeps in a second of its processor time, with libcoap's server beside it.
# Usage: scripts/ingest.sh [--seconds N] [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_debian coap-server-openssl:libcoap3-bin
build_load
exec "$built/sixlock-load" ingest "$built/sixlock" "$built" "$@"
