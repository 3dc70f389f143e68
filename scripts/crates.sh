#!/usr/bin/env bash
# Says which crate takes how many bytes of an image's flash, and which static how many of its RAM, and checks that they add
# up to all of it. Code that was inlined
# counts for the crate whose source it is; core is Rust's own library, wherever it is used, and run-time calls are copying and
# arithmetic that the processor lacks.
# Usage: scripts/crates.sh [PLATFORM VARIANT], for example: scripts/crates.sh msp430f1611 coap-dtls-psk-client
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/firmware.sh

platform=${1-msp430f1611} variant=${2-coap-dtls-psk-client}
choose "$platform"
# Where lines end up in the image is written beside it, which changes nothing of the image.
target_directory+=-lines
export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_PROFILE_RELEASE_STRIP=none
build "$variant"
image=$target_directory/$target/release/$variant$suffix
read -r flash ram < <(flash_and_ram "$image")

"$tools/llvm-objdump" --disassemble --line-numbers --demangle --disassemble-zeroes --no-leading-headers "$image" | awk -v flash="$flash" '
    function owner_of_path(path) {
        if (path ~ /\/crates\/[^\/]*\/src\//) { sub(/.*\/crates\//, "", path); sub(/\/.*/, "", path); return path }
        if (path ~ /\/firmware\/[^\/]*\/src\//) { sub(/.*\/firmware\//, "firmware/", path); sub(/\/src\/.*/, "", path); return path }
        if (path ~ /compiler-builtins/) return "run-time calls"
        if (path ~ /\/library\//) return "core"
        sub(/.*\/registry\/src\/[^\/]*\//, "", path); sub(/-[0-9].*/, "", path); return path
    }
    function owner_of_symbol(name) {
        if (match(name, /sixlock_[a-z0-9_]+/)) {
            name = substr(name, RSTART + 8, RLENGTH - 8)
            gsub(/_/, "-", name)
            return name == "app" || name == "start" ? "firmware/" name : name
        }
        if (name ~ /<(DEVICE|NETWORK)>/) return "firmware/app"
        return name ~ /<(core|<core|<\[)/ ? "core" : "run-time calls"
    }
    /^[0-9a-f]+ <.*>:$/ { owner = owner_of_symbol($0); next }
    /^; \/.*:[0-9]+/ { owner = owner_of_path($2); next }
    /^ *[0-9a-f]+: / {
        line = $0
        sub(/^ *[0-9a-f]+: */, "", line); sub(/(  |\t).*/, "", line); gsub(/ /, "", line)
        bytes[owner] += length(line) / 2; sum += length(line) / 2
    }
    END {
        for (owner in bytes) printf "%7d  %s\n", bytes[owner], owner | "sort -rn"
        close("sort -rn")
        printf "%7d  in all\n", sum
        if (sum != flash) { printf "but the image takes %d bytes of flash\n", flash > "/dev/stderr"; exit 1 }
    }'

echo
echo 'RAM before the stack:'
"$tools/llvm-nm" --print-size --demangle --radix=d "$image" | awk -v ram="$ram" '
    $3 ~ /^[bBdD]$/ && $2 > 0 { printf "%7d  %s\n", $2, $4 | "sort -rn"; sum += $2 }
    END {
        close("sort -rn")
        printf "%7d  in all\n", ram
        # Between statics lie the bytes that align them.
        if (sum > ram || ram - sum > 16) { printf "but the statics are %d bytes\n", sum > "/dev/stderr"; exit 1 }
    }'
