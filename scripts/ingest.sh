#!/usr/bin/env bash
# Measures how many readings the cloud keeps in a second of its processor time, with libcoap's server beside it.
# Usage: scripts/ingest.sh [--seconds N] [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_rust
ensure_debian coap-server-openssl:libcoap3-bin
build_web >&2
cargo build --quiet --locked --release --workspace --bin sixlock --bin sixlock-load
# The database goes where the build goes: /tmp may be memory.
built=${CARGO_TARGET_DIR:-target}/release
exec "$built/sixlock-load" ingest "$built/sixlock" "$built" "$@"
