#!/usr/bin/env bash
# Makes the files of a release of what is committed, and says what it does: an archive with the static program, its manual pages, completions
# and the definition of a container image; a Debian package; a bill of materials; and the checksums of all.
# Usage: scripts/release.sh [--out DIR, target/release-files if not given] [--binary FILE]
#
# With --binary that program is packed instead of one that is built, nothing is compressed, there is no bill of materials, and the sources
# may be in no repository: for tests.
# The same commit gives the same files: times are the commit's, and paths of the machine are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
out=$target/release-files binary=
while [ $# -gt 0 ]; do
    case $1 in
    --out) out=$(realpath -m "${2:?--out takes a folder}") ;;
    --binary) binary=$(realpath "${2:?--binary takes a file}") ;;
    *) fail "usage: scripts/release.sh [--out DIR] [--binary FILE]" ;;
    esac
    shift 2
done
ensure_rust
ensure_debian jq:jq git:git dpkg-deb:dpkg strip:binutils
say() { printf '== %s (%d s)\n' "$*" "$SECONDS"; }

cargo_home=${CARGO_HOME:-$HOME/.cargo}
triple=$(uname -m)-unknown-linux-musl
# Not in /tmp, which may be memory.
mkdir -p "$target"
work=$(mktemp -d "$target/release.XXXXXX")
trap 'rm -rf "$work"' EXIT
source=$work/source
mkdir -p "$source" "$out"
umask 022
if commit=$(git rev-parse --short=12 HEAD); then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) maintainer=$(git log -1 --format='%cn <%ce>')
    git archive HEAD | tar -x -C "$source"
elif [ -n "$binary" ]; then
    SOURCE_DATE_EPOCH=0 maintainer="nobody <nobody@localhost>" commit=none
    tar -c --exclude=target --exclude=node_modules --exclude=.git . | tar -x -C "$source"
else
    fail "A release is made of a commit, and git finds none here: see its message above"
fi
export SOURCE_DATE_EPOCH
version=$(cargo metadata --no-deps --format-version 1 --manifest-path "$source/Cargo.toml" | jq -r '.packages[] | select(.name == "sixlock").version')
name=sixlock-$version
say "$name of commit $commit, into $out"

# pack FOLDER - an archive of it, the same whenever it is made.
pack() {
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "${1%/*}" -cf - "${1##*/}"
}

compression=none squeeze=cat files=("$name-$(uname -m)-linux.tar.gz" "sixlock_${version}_$(dpkg --print-architecture).deb")
if [ -z "$binary" ]; then
    compression=xz squeeze='gzip -9n'
    ensure_debian musl-gcc:musl-tools
    ensure_cargo_tool cargo-cyclonedx 0.5.9
    [ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] || rustup target add "$triple"
    say "the dashboard"
    (cd "$source" && build_web)
    say "the program, for $triple"
    rust='' c=''
    for path in "$target=target" "$source=sixlock" "$cargo_home=cargo"; do rust+=" --remap-path-prefix=$path" c+=" -ffile-prefix-map=$path"; done
    (cd "$source" && RUSTFLAGS=$rust CFLAGS=$c CARGO_TARGET_DIR=$target \
        cargo build --quiet --locked --profile dist -p sixlock --target "$triple")
    binary=$target/$triple/dist/sixlock
    ! readelf -d "$binary" | grep -q NEEDED || fail "$binary is not static: it needs the libraries that readelf -d names"
    say "its bill of materials"
    (cd "$source" && cargo cyclonedx --quiet --format json --target "$triple" --manifest-path crates/sixlock/Cargo.toml)
    # Crates of the workspace are named by their folders.
    sed "s|$source|.|g" "$source/crates/sixlock/sixlock.cdx.json" >"$out/$name.cdx.json"
    files+=("$name.cdx.json")
fi

say "what stands beside it"
folder=$work/$name
mkdir -p "$folder/data" "$folder/completions"
strip --strip-debug -o "$folder/sixlock" "$binary"
cp "$source"/{LICENSE-MIT,LICENSE-APACHE,CHANGELOG.md,release/Containerfile} "$folder"
"$binary" man --out "$folder/man1"
for shell in bash zsh fish; do "$binary" completions "$shell" >"$folder/completions/sixlock.$shell"; done
mapfile -t linked < <(cargo tree --locked --quiet --manifest-path "$source/Cargo.toml" -p sixlock -e normal --target "$triple" --prefix none -f '{p}|{l}' | sort -u)
{
    for package in "${linked[@]}"; do
        printf '\n======== %s, %s\n' "${package%%[(|]*}" "${package##*|}"
        package=${package%%[(|]*} package=${package% }
        cat "$cargo_home"/registry/src/*/"${package/ v/-}"/{LICEN[CS]E,COPYING,NOTICE}* 2>/dev/null || true
    done
    for file in "$(rustc --print sysroot)/share/doc/rust/COPYRIGHT-library.html" /usr/share/doc/musl-dev/copyright; do
        [ ! -f "$file" ] || { printf '\n======== %s\n' "${file##*/doc/}" && cat "$file"; }
    done
    for package in uplot world-atlas; do
        printf '\n======== %s\n' "$package"
        cat "$source/web/node_modules/$package"/LICEN[CS]E* 2>/dev/null || true
    done
} >"$folder/LICENSES-OTHERS"
pack "$folder" | $squeeze >"$out/${files[0]}"

say "the Debian package"
root=$work/root share=$work/root/usr/share doc=$work/root/usr/share/doc/sixlock
install -D -m 755 -t "$root/usr/bin" "$folder/sixlock"
install -D -m 644 -t "$root/usr/lib/systemd/system" "$source/release/sixlock-cloud.service"
install -D -m 644 "$source/release/sixlock-cloud.default" "$root/etc/default/sixlock-cloud"
install -D -m 644 "$folder/completions/sixlock.bash" "$share/bash-completion/completions/sixlock"
install -D -m 644 "$folder/completions/sixlock.zsh" "$share/zsh/vendor-completions/_sixlock"
install -D -m 644 "$folder/completions/sixlock.fish" "$share/fish/vendor_completions.d/sixlock.fish"
install -D -m 644 -t "$share/man/man1" "$folder"/man1/*
gzip -9n "$share"/man/man1/*
mkdir -p "$doc"
cp -r "$source"/{README.md,SECURITY.md,docs,scenarios} "$doc"
gzip -9nc "$source/CHANGELOG.md" >"$doc/changelog.gz"
cat "$source"/{LICENSE-MIT,LICENSE-APACHE} "$folder/LICENSES-OTHERS" >"$doc/copyright"
mkdir "$root/DEBIAN"
install -m 755 -t "$root/DEBIAN" "$source"/release/{postinst,prerm,postrm}
echo /etc/default/sixlock-cloud >"$root/DEBIAN/conffiles"
{
    cat "$source/release/control"
    echo "Version: $version"
    echo "Architecture: $(dpkg --print-architecture)"
    echo "Maintainer: $maintainer"
    echo "Installed-Size: $(du -sk --apparent-size "$root" | cut -f 1)"
} >"$root/DEBIAN/control"
# As many threads as there are would be part of what comes out.
dpkg-deb --root-owner-group -Z"$compression" --threads-max=1 --build "$root" "$out/${files[1]}" >/dev/null

(cd "$out" && sha256sum "${files[@]}" >SHA256SUMS)
say "done"
ls -l "$out"
