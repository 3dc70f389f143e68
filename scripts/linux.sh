#!/usr/bin/env bash
# Gets what tests boot in a virtual machine: Debian's kernel and a static busybox, unpacked into the cache, not installed.
# Usage: scripts/linux.sh
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

target=$TOOLS/linux
[ ! -e "$target/kernel" ] || exit 0
[ "$(uname -m)" = x86_64 ] || fail "The virtual machine of the tests is made for x86_64 only"
ensure_debian xz:xz-utils
command -v apt-get >/dev/null || fail "The kernel comes from Debian's packages, and there is no apt-get on this system"
# Kernels are replaced often, and what an old list names is gone.
[ "$(id -u)" -ne 0 ] || apt-get update -qq
image=$(apt-cache depends linux-image-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
[ -n "$image" ] || fail "apt does not know linux-image-amd64: try sudo apt-get update"

echo "Getting $image (once)"
mkdir -p "$TOOLS"
work=$(mktemp -d "$TOOLS/linux.XXXXXX")
trap 'rm -rf "$work"' EXIT
(
    cd "$work"
    options=(-qq)
    # Root's downloads are otherwise made by a user who may not write here.
    [ "$(id -u)" -ne 0 ] || options+=(-o APT::Sandbox::User=root)
    apt-get "${options[@]}" download "$image" busybox-static ||
        fail "Could not download $image: try sudo apt-get update"
    for package in ./*.deb; do
        dpkg -x "$package" .
    done
    mkdir linux
    # Below /usr in some releases.
    shopt -s nullglob
    mv {,usr/}bin/busybox* linux
    mv {,usr/}lib/modules/* linux/modules
    # Most of it drives hardware that no virtual machine has.
    rm -rf linux/modules/kernel/sound linux/modules/kernel/drivers/{gpu,infiniband,media,scsi,staging,usb} \
        linux/modules/kernel/drivers/net/{ethernet,wireless}
    find linux/modules -name '*.ko.xz' -exec unxz {} +
    # QEMU enters an ELF file directly, which saves it the seconds in which a kernel unpacks itself. Kernels that are
    # compressed otherwise are left to do so.
    if offset=$(LC_ALL=C grep -abo -m 1 -P '\xfd7zXZ\x00' boot/vmlinuz-* | head -n 1 | cut -d: -f1); then
        # What follows the compressed part is no part of it, which xz says by its status.
        tail -c "+$((offset + 1))" boot/vmlinuz-* | xz -dc >linux/kernel 2>/dev/null || true
    fi
    [ "$(head -c 4 linux/kernel 2>/dev/null)" = $'\x7fELF' ] || cp boot/vmlinuz-* linux/kernel
    test -x linux/busybox
)
mv "$work/linux" "$target"
