#!/usr/bin/env bash
# Besieges the cloud over HTTP and over TLS: hostile requests, slow bodies, readers who never read, live feeds, wrong passwords and handshakes
# half done, all at once; and tells what a signed-in user and the devices notice. Fails if a figure is above its bound.
# Usage: scripts/siege.sh [--seconds N] [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_debian taskset:util-linux openssl:openssl
build_load
# The cloud has the first core for itself, all others another, if there is one.
exec taskset --cpu-list "$(($(nproc) - 1))" "$built/sixlock-load" siege "$built/sixlock" "$built" --core 0 "$@"
