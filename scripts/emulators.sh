#!/usr/bin/env bash
# Makes sure that the emulators are there which run images for microcontrollers, and says what to put into PATH.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_emulators
echo "QEMU, mspdebug and simavr are there. So that sixlock finds the last of them:"
echo "export PATH=\"\$PATH:$TOOLS/simavr-gdb\""
