#!/usr/bin/env bash
# Plants faults, and sees whether the swarm finds them: each patch in crates/sim/faults/ changes one line of the crate that it is named after. It is
# applied to a copy of the tree, the crate's own tests must not notice, the swarm must find it within 1,000 seeds, and the seed alone must find
# the same again. Prints a row of docs/swarm.md for each. Usage: scripts/faults.sh [CRATE]...
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

# Networks that are tried, and how many at a time: none after that in which the fault shows.
SEEDS=1000
STEP=50

patches=()
for crate in "$@"; do patches+=("crates/sim/faults/$crate.patch"); done
[ $# -gt 0 ] || patches=(crates/sim/faults/*.patch)
for patch in "${patches[@]}"; do
    [ -f "$patch" ] || fail "there is no $patch"
done
ensure_rust

# The copy is always in the same place, so that what no fault changes is built once.
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")/faults
tree=$target/tree
rm -rf "$tree"
mkdir -p "$tree"
git ls-files -z | tar --null -T - -c | tar -x -C "$tree"
export CARGO_TARGET_DIR=$target/build

# planted WAY PATCH - applies a patch to the copy, or with -R takes it back. Git is not to look for a repository around it.
planted() {
    (cd "$tree" && GIT_CEILING_DIRECTORIES=$target git apply "$@")
}

# swarm FIRST COUNT - what the swarm finds, if it does: the network's seed and what it is, then what does not hold in it.
swarm() {
    # It fails when it finds something.
    (cd "$tree" && SIXLOCK_SWARM=$2,$1 cargo test --quiet --locked --release -p sixlock-sim --test swarm what_must_hold || true) 2>&1 |
        sed -n '/^[0-9]\+: /,/^$/p' | sed -n '/^[0-9]\+: \|: not so: /p'
}

built() {
    (cd "$tree" && cargo test --quiet --locked --release -p sixlock-sim --test swarm --no-run)
}

missed=0
printf '| crate | fault | found by |\n|---|---|---|\n'
for patch in "${patches[@]}"; do
    crate=$(basename "$patch" .patch)
    fault=$(sed '/^---/,$d' "$patch" | tr '\n' ' ' | sed 's/ *$//')
    planted "$PWD/$patch"
    (cd "$tree" && cargo test --quiet --locked -p "sixlock-$crate" >/dev/null 2>&1) ||
        fail "the tests of $crate notice the fault: it is none that only the swarm can find"
    built
    found='' row='not found'
    for ((first = 1; first <= SEEDS; first += STEP)); do
        found=$(swarm "$first" "$STEP" | sed -n 1,2p)
        [ -z "$found" ] || break
    done
    if [ -n "$found" ]; then
        seed=${found%%:*}
        invariant=$(sed -n 's/.*: not so: \([^:]*\): .*/\1/p' <<<"$found" | head -n 1)
        row="seed $seed: $invariant"
        [ "$(swarm "$seed" 1 | sed -n 1,2p)" = "$found" ] || row="seed $seed, which does not find the same again"
    fi
    case $row in *again | not*) missed=1 ;; esac
    printf '| %s | %s | %s |\n' "$crate" "$fault" "$row"
    planted -R "$PWD/$patch"
done
exit "$missed"
