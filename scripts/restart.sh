#!/usr/bin/env bash
# Measures what an orderly stop and a start of the cloud take with many DTLS sessions open, which go on.
# Usage: scripts/restart.sh [--sessions N] [--shards N] [--then N] [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

build_load
exec "$built/sixlock-load" restart "$built/sixlock" "$built" "$@"
