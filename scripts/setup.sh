# Sourced by ./run, ./test, ./bench and ./soak: makes sure that a tool is there, or says what to do.
# shellcheck shell=bash disable=SC2034

# The toolchain for microcontrollers without a stable one, and for fuzzing; the others are built by
# what rust-toolchain.toml names.
NIGHTLY=nightly-2026-05-20

TOOLS=${XDG_CACHE_HOME:-$HOME/.cache}/sixlock/tools
export PATH="$PATH:$HOME/.cargo/bin"

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# ensure_debian WHAT:PACKAGE... - WHAT is a command, or the path of a file.
ensure_debian() {
    local pair missing=()
    for pair in "$@"; do
        command -v "${pair%%:*}" >/dev/null || [ -e "${pair%%:*}" ] || missing+=("${pair#*:}")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || fail "Missing, and not installed by itself on this system: ${missing[*]} (Debian's package names)"
    [ "$(id -u)" -eq 0 ] || fail "Missing Debian packages. Install them with: sudo apt-get install ${missing[*]}"
    echo "Installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
        fail "Could not install ${missing[*]}: try apt-get install ${missing[*]} by hand"
}

ensure_rust() {
    ensure_debian cc:gcc /usr/include/stdio.h:libc6-dev
    if ! command -v rustup >/dev/null; then
        ensure_debian curl:curl /etc/ssl/certs/ca-certificates.crt:ca-certificates
        curl --proto '=https' --tlsv1.2 -sSf https://static.rust-lang.org/rustup/rustup-init.sh | sh -s -- -y --profile minimal --default-toolchain none
    fi
    # Answers at once when everything that rust-toolchain.toml names is there.
    if ! { cargo fmt --version && cargo clippy --version && [ "$(rustup target list --installed | grep -c '^thumbv7')" -ge 2 ]; } >/dev/null 2>&1; then
        rustup toolchain install --no-self-update || fail "Could not install the toolchain of rust-toolchain.toml: see rustup's message above"
    fi
}

ensure_nightly() {
    local components
    if ! components=$(rustup component list --installed --toolchain "$NIGHTLY" 2>/dev/null) ||
        ! grep -q rust-src <<<"$components" || ! grep -q llvm-tools <<<"$components"; then
        rustup toolchain install "$NIGHTLY" --no-self-update --profile minimal -c rust-src -c llvm-tools ||
            fail "Could not install the toolchain $NIGHTLY: see rustup's message above"
    fi
}

# ensure_cargo_tool NAME VERSION - puts this version, and no other, first in the path; unoptimised, as it works for seconds.
ensure_cargo_tool() {
    local root=$TOOLS/$1-$2
    if [ ! -x "$root/bin/$1" ]; then
        echo "Building $1 $2 (once)"
        CARGO_PROFILE_DEV_DEBUG=0 CARGO_TARGET_DIR=$root/target cargo install --debug --quiet --locked --root "$root" "$1@$2" ||
            fail "Could not install $1 $2: try cargo install --locked $1@$2 by hand"
        rm -rf "$root/target"
    fi
    PATH="$root/bin:$PATH"
}

ensure_cargo_deny() { ensure_cargo_tool cargo-deny 0.20.2; }
ensure_cargo_fuzz() { ensure_cargo_tool cargo-fuzz 0.13.2; }

# The emulators that images run in. simavr's own program does not do: firmware/simavr/main.c says why.
ensure_emulators() {
    ensure_debian cc:gcc setpriv:util-linux qemu-system-arm:qemu-system-arm mspdebug:mspdebug /usr/include/simavr/sim_avr.h:libsimavr-dev
    local source=firmware/simavr/main.c program=$TOOLS/simavr-gdb/simavr-gdb
    if [ ! -e "$program" ] || [ "$source" -nt "$program" ]; then
        mkdir -p "${program%/*}"
        cc -O2 -Wall -Werror -I/usr/include/simavr "$source" -o "$program" -lsimavr ||
            fail "Could not build $source: see the compiler's message above"
    fi
    PATH="$PATH:${program%/*}"
}

# Python with the package $1 of version $2 and the others that are named, called $1-python3.
ensure_python() {
    local root=$TOOLS/$1-$2 name=$1-python3
    if [ ! -x "$root/path/$name" ]; then
        python3 -c 'import ensurepip' 2>/dev/null || ensure_debian python3:python3 /usr/share/doc/python3-venv:python3-venv
        { python3 -m venv "$root" && "$root/bin/pip" install --quiet "$1==$2" "${@:3}"; } ||
            fail "Could not install $1: see pip's message above"
        mkdir -p "$root/path"
        printf '#!/bin/sh\nexec "%s/bin/python3" "$@"\n' "$root" >"$root/path/$name"
        chmod +x "$root/path/$name"
    fi
    PATH="$PATH:$root/path"
}

# scapy speaks IPsec (Debian's own is too old), aiosmtpd takes e-mail, aiocoap CoAP, also over DTLSSocket, which is tinydtls and has to be built.
ensure_pythons() {
    ensure_python scapy 2.8.0 cryptography==50.0.2 && ensure_python aiosmtpd 1.4.6
    ensure_debian cc:gcc make:make automake:automake pkg-config:pkg-config python3-config:python3-dev
    ensure_python DTLSSocket 0.2.3 aiocoap==0.4.17
}

ensure_node() { ensure_debian node:nodejs npm:npm; }

# The dashboard, which the cloud embeds: built when its sources are newer than what was built.
build_web() {
    local built=web/dist/index.html
    if [ ! -e "$built" ] || [ -n "$(find web -name node_modules -prune -o -path web/dist -prune -o -type f -newer "$built" -print -quit)" ]; then
        ensure_node
        install_web
        (cd web && npm run --silent build)
        touch "$built"
    fi
}

# What the lock file names, installed when it is newer than what is installed.
install_web() {
    if [ ! -e web/node_modules/.package-lock.json ] || [ web/package-lock.json -nt web/node_modules/.package-lock.json ]; then
        (cd web && npm ci --no-audit --no-fund)
    fi
}

# The cloud and what puts it under load, in the folder $built; both may have as many files open as is allowed. The database of a measurement
# goes there too: /tmp may be memory.
build_load() {
    ensure_rust
    build_web >&2
    cargo build --quiet --locked --release --workspace --bin sixlock --bin sixlock-load
    built=$(realpath "${CARGO_TARGET_DIR:-target}")/release
    ulimit -n "$(ulimit -Hn)"
}
