#!/usr/bin/env bash
# Prints what it takes to seal and open packets beside the bare ciphers and codes, and how many of them a security gateway seals and
# opens in a second beside Linux, in a virtual machine.
# Usage: scripts/ipsec.sh [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh
ensure_rust

# example PACKAGE NAME ARGUMENT... - runs it as it would be distributed.
example() {
    cargo run --quiet --profile dist --locked -p "$1" --example "$2" -- "${@:3}"
}

alone=$(example sixlock-ipsec throughput "$@")
if [ "$(uname -m)" = x86_64 ]; then
    {
        ensure_debian qemu-system-x86_64:qemu-system-x86 ip:iproute2 strip:binutils
        scripts/linux.sh
    } >&2
    beside=$(example sixlock-vm gateway "$@")
else
    echo "Beside Linux nothing is measured here: its virtual machine is one of x86_64" >&2
    beside=
fi
case "${1-}/$beside" in
--json/?*) printf '%s,%s\n' "${alone%]}" "${beside#[}" ;;
*/) printf '%s\n' "$alone" ;;
*) printf '%s\n\n%s\n' "$alone" "$beside" ;;
esac
