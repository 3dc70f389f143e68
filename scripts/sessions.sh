#!/usr/bin/env bash
# Measures what it takes to hold many DTLS sessions open.
# Usage: scripts/sessions.sh [--sessions N] [--rate N] [--seconds N] [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_rust
build_web >&2
cargo build --quiet --locked --release --workspace --bin sixlock --bin sixlock-load
# Each session of the devices has a socket.
ulimit -n "$(ulimit -Hn)"
# The database goes where the build goes: /tmp may be memory.
built=${CARGO_TARGET_DIR:-target}/release
exec "$built/sixlock-load" sessions "$built/sixlock" "$built" "$@"
