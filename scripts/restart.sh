#!/usr/bin/env bash
# Measures what an orderly stop and a start of the cloud take with many DTLS sessions open, which go on.
# Usage: scripts/restart.sh [--sessions N] [--shards N] [--then N] [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_rust
build_web >&2
cargo build --quiet --locked --release --workspace --bin sixlock --bin sixlock-load
# Some of the devices have sockets.
ulimit -n "$(ulimit -Hn)"
# The database goes where the build goes: /tmp may be memory.
built=${CARGO_TARGET_DIR:-target}/release
exec "$built/sixlock-load" restart "$built/sixlock" "$built" "$@"
