#!/usr/bin/env bash
# Measures what it takes to hold many DTLS sessions open.
# Usage: scripts/sessions.sh [--sessions N] [--rate N] [--seconds N] [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

build_load
exec "$built/sixlock-load" sessions "$built/sixlock" "$built" "$@"
