#!/usr/bin/env bash
# Links the probe image of each microcontroller, checks what is in it and prints its size.
# Usage: scripts/probes.sh [--json]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

ensure_rust
ensure_nightly
ensure_debian avr-gcc:gcc-avr /usr/lib/avr/include/avr/io.h:avr-libc

host=$(rustc -vV | sed -n 's/^host: //p')
tools=$(rustc "+$NIGHTLY" --print sysroot)/lib/rustlib/$host/bin
# The file that cargo reads from firmware/.cargo/config.toml cannot name this path.
export CARGO_TARGET_MSP430_NONE_ELF_LINKER=$tools/gcc-ld/ld.lld
# avr-gcc knows no -no-pie, and rustc would warn that it leaves it out.
export RUSTC_LOG=error
target_directory=${CARGO_TARGET_DIR:-$PWD/target}/firmware

# What no device may contain: allocation, formatting, 64-bit multiplication and division, floating point.
forbidden='__rust_alloc|__rg_alloc|^malloc$|core3fmt|^_?_?(u|)(div|mod|divmod)di[34]$|^__(u?(div|mod|mul)|mulo|ash[lr]|lshr)ti[34]$|^__aeabi_(u|)ldivmod|^__mspabi_(mpyll|divull|divlli|remull|remlli|divu?ll|remu?ll)|^__(mul|u?div|u?mod)di3|^__(add|sub|mul|div)[sd]f3|^__aeabi_[fd](add|sub|mul|div)|^__mspabi_[a-z]*[fd]$'

# build PLATFORM TARGET IMAGE FLASH RAM CARGO_ARGUMENTS... - FLASH and RAM are the chip's, in bytes.
build() {
    local platform=$1 target=$2 image=$target_directory/$2/release/$3 chip_flash=$4 chip_ram=$5
    shift 5
    (cd firmware && CARGO_TARGET_DIR=$target_directory cargo "$@" --quiet --locked --release --target "$target") ||
        fail "The probe image for $target does not link: a symbol named above is missing, or the image is too large"
    if "$tools/llvm-nm" "$image" | awk '{ print $NF }' | grep -E "$forbidden" >&2; then
        fail "The probe image for $target contains the symbols above, which no device may: find who calls them with $tools/llvm-objdump -d $image"
    fi
    local flash ram
    read -r flash ram < <("$tools/llvm-size" -A "$image" | awk '
        $1 ~ /^\.(vectors|text|rodata)/ { flash += $2 }
        $1 == ".data" { flash += $2; ram += $2 }
        $1 == ".bss" { ram += $2 }
        END { print flash, ram }')
    report "$platform" "$flash" "$chip_flash" "$ram" "$chip_ram"
}

if [ "${1-}" = --json ]; then
    separator='['
    report() {
        printf '%s{"platform":"%s","variant":"probe","flash":%d,"ram":%d}' "$separator" "$1" "$2" "$4"
        separator=','
    }
else
    echo 'Every crate of the device floors in one image; static RAM: the largest machine, one at a time.'
    printf '%-14s %16s %16s\n' platform 'flash (of)' 'static RAM (of)'
    report() {
        local note=
        [ "$2" -le "$3" ] && [ "$4" -le "$5" ] || note='  more than the chip has: linked, but would not run'
        printf '%-14s %8d %7d %8d %7d%s\n' "$@" "$note"
    }
fi

nightly=("+$NIGHTLY" build -Zbuild-std=core)
build cortex-m3 thumbv7m-none-eabi sixlock-probe 262144 65536 build
build msp430f1611 msp430-none-elf sixlock-probe 49120 10240 "${nightly[@]}"
build atmega128 avr-none sixlock-probe.elf 131072 4096 "${nightly[@]}"
[ "${1-}" != --json ] || echo ']'
