# Sourced by the scripts that build for microcontrollers.
# shellcheck shell=bash
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

# choose PLATFORM - sets target, cargo and suffix: what builds for it, and what its images' files end with.
choose() {
    cargo=("+$NIGHTLY" build -Zbuild-std=core) suffix=''
    case $1 in
    cortex-m3) target=thumbv7m-none-eabi cargo=(build) ;;
    msp430f1611) target=msp430-none-elf ;;
    atmega128) target=avr-none suffix=.elf ;;
    *) fail "$1 is not cortex-m3, msp430f1611 or atmega128" ;;
    esac
}

# build IMAGE... - builds images for what was chosen.
build() {
    local name arguments=()
    for name in "$@"; do arguments+=(--bin "$name"); done
    (cd firmware && CARGO_INCREMENTAL=0 CARGO_TARGET_DIR=$target_directory cargo "${cargo[@]}" --quiet --locked --release --target "$target" "${arguments[@]}") ||
        fail "An image for $target does not link: a symbol named above is missing, or the image is too large"
}

# flash_and_ram FILE - prints what an image takes of both, in bytes.
flash_and_ram() {
    "$tools/llvm-size" -A "$1" | awk '
        $1 ~ /^\.(vector|text|rodata|device)/ { flash += $2 }
        $1 == ".data" { flash += $2; ram += $2 }
        $1 == ".bss" { ram += $2 }
        END { print flash, ram }'
}

# link PLATFORM IMAGE... - builds images, checks what is in them and calls report PLATFORM IMAGE FLASH RAM for each. For a
# protocol alone it is what its image takes more than datagrams, which is named before it and not reported.
link() {
    local platform=$1 target cargo suffix name path flash ram without
    shift
    choose "$platform"
    build "$@"
    for name in "$@"; do
        path=$target_directory/$target/release/$name$suffix
        if "$tools/llvm-nm" "$path" | awk '{ print $NF }' | grep -E "$forbidden" >&2; then
            fail "The image $name for $target contains the symbols above, which no device may: find who calls them with $tools/llvm-objdump -d $path"
        fi
        read -r flash ram < <(flash_and_ram "$path")
        case $name in
        datagrams)
            without=("$flash" "$ram")
            continue
            ;;
        dtls-*-client | ah-xcbc | esp-ctr-xcbc) flash=$((flash - without[0])) ram=$((ram - without[1])) ;;
        esac
        report "$platform" "$name" "$flash" "$ram"
    done
}

# everywhere IMAGE... - links images for every microcontroller, and keeps in linked what each is: PLATFORM=FILE.
everywhere() {
    local platform
    linked=()
    report() {
        linked+=("$1=$path")
    }
    for platform in cortex-m3 msp430f1611 atmega128; do
        link "$platform" "$@"
    done
}

# images - links the images that devices run, on each chip those that fit it, and calls report as link does.
images() {
    local plain=(udp-none udp-none-nullmac udp-llsec udp-ah-xcbc udp-esp-ctr-xcbc coap-none coap-llsec)
    local alone=(datagrams dtls-psk-client) serial=(bridge bridge-llsec sniffer)
    link cortex-m3 "${plain[@]}" udp-dtls-psk coap-dtls-psk-client coap-dtls-psk-server "${serial[@]}" "${alone[@]}" dtls-rpk-client dtls-x509-client \
        udp-dtls-{rpk,x509} coap-dtls-{rpk,x509}-{client,server}
    link msp430f1611 "${plain[@]}" udp-dtls-psk coap-dtls-psk-client coap-dtls-psk-server "${serial[@]}" "${alone[@]}"
    link atmega128 "${plain[@]}" sniffer "${alone[@]}"
}
