#!/usr/bin/env bash
# Tries the tree on a bare machine: makes a fresh Debian root with a C compiler, git and curl, clones what is committed
# into it, and runs ./run there until it is ready, and then ./test. The root is removed at the end.
# Usage: scripts/bare.sh [run|test|quick|COMMAND]...
#
# What the machine needs to reach its registries is copied into the root: configuration files, certificates and
# environment variables. None of it is written into the tree.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

SUITE=bookworm
PACKAGES=git,curl,gcc,libc6-dev,make,ca-certificates
# How long ./run may take until it is ready: it installs tools and builds the release.
READY=3600

[ $# -gt 0 ] || set -- run test
[ "$(id -u)" -eq 0 ] || fail "scripts/bare.sh makes a root file system, which only root may do"
ensure_debian mmdebstrap:mmdebstrap unshare:util-linux git:git

# Not in /tmp, which may be memory: a root that has run ./test takes more than 10 GB.
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
mkdir -p "$target"
root=$(mktemp -d "$target/bare.XXXXXX")
chmod 755 "$root"
inside=
# Whatever runs in the root ends with the process that made its namespaces, of which nothing is mounted out here. It takes a moment, in which
# more may be written.
end() {
    [ -z "$inside" ] || kill -KILL "$inside" 2>/dev/null || true
    for _ in 1 2 3 4 5; do
        rm -rf --one-file-system "$root" 2>/dev/null && break
        sleep 1
    done
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# carry PATH... - copies those that exist to the same place in the root, with the folders above them.
carry() {
    local path
    for path in "$@"; do
        [ ! -e "$path" ] || cp --archive -H --parents --remove-destination --target-directory "$root" "$path"
    done
}

# The settings of apt that say how packages are reached, one file a line.
apt_settings() {
    grep -lsE 'Acquire::(http|https|ftp|Retries|Check)|[Pp]roxy' /etc/apt/apt.conf /etc/apt/apt.conf.d/* || true
}

# The environment variables that say how registries are reached, one name a line.
registry_variables() {
    compgen -e | grep -iE '^((https?|ftp|all|no)_proxy|.*_(CA_BUNDLE|CA_CERTS|CAINFO|CAFILE|CERT|CERTS)|SSL_CERT_(FILE|DIR)|PIP_.*(URL|HOST|CONFIG_FILE|TIMEOUT)|(NPM_CONFIG|CARGO_(HTTP|NET|REGISTRIES|REGISTRY|SOURCE))_.*|RUSTUP_(DIST_SERVER|UPDATE_ROOT)|MAVEN_(OPTS|ARGS)|JAVA_TOOL_OPTIONS)$' || true
}

make_root() {
    local options=() sources=() file
    for file in $(apt_settings); do
        options+=(--aptopt="$file")
    done
    # The machine's own sources for the suite, if they stand apart from others'.
    for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
        if [ -s "$file" ] && grep -q "$SUITE" "$file"; then sources=("$file") && break; fi
    done
    mmdebstrap --quiet --variant=minbase --include="$PACKAGES" "${options[@]}" "$SUITE" "$root" "${sources[@]}"
}

carry_settings() {
    local name
    # shellcheck disable=SC2046 # One path a line, without blanks.
    carry $(apt_settings) /etc/resolv.conf /etc/hosts /etc/ssl/certs /usr/local/share/ca-certificates /etc/pip.conf /etc/npmrc \
        "$HOME/.npmrc" "$HOME/.config/pip" "$HOME/.cargo/config.toml" "$HOME/.m2/settings.xml" "$HOME/.m2/settings-security.xml"
    carried=(HOME="$HOME" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb)
    for name in $(registry_variables); do
        carried+=("$name=${!name}")
        carry "${!name}"
    done
    # Debug builds for the next build take gigabytes, and there is none.
    carried+=(CARGO_INCREMENTAL=0)
}

# within COMMAND... - runs it in the clone, in the root, with namespaces of its own for processes and mounts: whatever it starts
# ends with it.
within() {
    # shellcheck disable=SC2016 # The inner shell expands these.
    # In the background, so that a signal to this script is heard at once.
    env -i "${carried[@]}" root="$root" unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" sh -euc '
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        exec chroot "$root" env -u root sh -euc "cd ~/sixlock && exec \"\$@\"" sh "$@"' sh "$@" &
    inside=$!
    wait "$inside"
    inside=
}

# ./run, on free ports and data of its own, until it says that it is ready; then it is told to end, and has to end in order.
# shellcheck disable=SC2016 # The shell in the root expands these.
UNTIL_READY='
    coproc RUN { exec ./run --listen 127.0.0.1:0 --coap 127.0.0.1:0 --coaps 127.0.0.1:0 --data "$(mktemp -d)"; }
    process=$RUN_PID line=
    # Bash keeps its own number from processes in the background.
    exec 3<&"${RUN[0]}"
    until [[ $line == "ready "* ]]; do
        read -t "$1" -r line <&3 || { echo "./run ended, or was not ready in $1 s" >&2; exit 1; }
        printf "%s\n" "$line"
    done
    cat <&3 >/dev/null &
    kill -TERM "$process"
    wait "$process"
    echo "./run ended in order"'

make_root
carry_settings
git clone --quiet --no-local . "$root$HOME/sixlock"
for what; do
    case $what in
    run) within bash -c "$UNTIL_READY" bash "$READY" ;;
    test) within ./test ;;
    quick) within ./test quick ;;
    *) within bash -euc "$what" ;;
    esac
done
