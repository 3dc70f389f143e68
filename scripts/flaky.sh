#!/usr/bin/env bash
# Looks for tests that fail now and then: repeats the tests alone, then beside a busy loop on each processor, and lists those that failed at
# least once. The first run of either kind runs all tests. The others repeat the packages whose code or tests use a clock, a thread, a process,
# a socket or a file: the rest computes the same from the same seed. Usage: scripts/flaky.sh [RUNS, 10 if not given]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

runs=${1:-10}
case $runs in
'' | *[!0-9]* | 0)
    echo "usage: scripts/flaky.sh [RUNS]" >&2
    exit 2
    ;;
esac
# How long a run may take, in seconds: a test that hangs fails.
LONGEST=3600

ensure_rust
ensure_debian tshark:tshark coap-client-openssl:libcoap3-bin ip:iproute2 ping:iputils-ping openssl:openssl groff:groff-base systemd-analyze:systemd strip:binutils gnutls-cli:gnutls-bin \
    /usr/include/mbedtls/ssl.h:libmbedtls-dev /usr/include/wolfssl/ssl.h:libwolfssl-dev strace:strace java:default-jdk-headless mvn:maven node:nodejs npm:npm \
    qemu-system-x86_64:qemu-system-x86 /sbin/mke2fs:e2fsprogs iwpan:wpan-tools
ensure_pythons
build_web
[ "$(uname -m)" != x86_64 ] || scripts/linux.sh
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((3 * $(nproc)))}
cargo test --quiet --locked --workspace --no-run

# The packages that a repetition can tell something about, as arguments of cargo.
repeated=()
for folder in crates/* checks interop load measure vm fuzz/entry_points; do
    if grep -rqE 'std::(thread|process|net::(Udp|Tcp)|time|fs)|tokio|Command::new' "$folder"/{src,tests} --include='*.rs' 2>/dev/null; then
        repeated+=(-p "$(sed -n 's/^name = "\(.*\)"/\1/p' "$folder/Cargo.toml" | head -n 1)")
    fi
done

log=$(mktemp) failed=$(mktemp) busy=()
rest() {
    [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null || true
    busy=()
}
trap 'rest; rm -f "$log" "$failed"' EXIT

# A loop on each processor, which ends by itself should nobody end it.
be_busy() {
    for _ in $(seq "$(nproc)"); do
        timeout "$LONGEST" sh -c 'while :; do :; done' &
        busy+=($!)
    done
}

failures() {
    cargo run --quiet --locked -p sixlock-checks --bin failed_tests -- "$1" 2>/dev/null | sort -u
}

for how in alone "under load"; do
    for n in $(seq "$runs"); do
        [ "$how" = alone ] || be_busy
        status=0
        packages=(--workspace)
        [ "$n" -eq 1 ] || packages=("${repeated[@]}")
        timeout "$LONGEST" cargo test --locked --no-fail-fast "${packages[@]}" >"$log" 2>&1 || status=$?
        rest
        failures "$log" | sed "s/^/$how: /" >>"$failed"
        # A run that failed without a test that did says why itself.
        if [ "$status" -ne 0 ] && [ -z "$(failures "$log")" ]; then
            tail -n 20 "$log"
            echo "$how: run $n ended with status $status" >>"$failed"
        fi
        echo "run $n of $runs $how: $(failures "$log" | wc -l) tests failed"
    done
done
if [ -s "$failed" ]; then
    echo "failed at least once, and how often of $runs:"
    sort "$failed" | uniq -c
    exit 1
fi
echo "$((2 * runs)) runs, no test failed"
