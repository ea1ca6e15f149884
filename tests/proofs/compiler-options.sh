#!/bin/bash
# Checks that no compiler option changes a height in silence: with options that a macro shows,
# noise/ does not compile; with others it computes the same bits, or makes no terrain.
#
#   tests/proofs/compiler-options.sh      or `make check-same-bits`, which installs its requirements
set -euo pipefail
cd "$(dirname "$0")/../.."
directory=build/compiler-options

fail() {
    echo "FAIL: ${0##*/}: $*" >&2
    exit 1
}

# refused MESSAGE COMPILER OPTION...
refused() {
    local said
    said=$("${@:2}" -std=gnu11 -I. -fsyntax-only noise/fractal/octave.c 2>&1) && fail "${*:2} is not refused"
    grep -qFe "$1" <<<"$said" || fail "${*:2} says: $said"
}

for compiler in gcc clang; do
    "$compiler" -std=gnu11 -I. -fsyntax-only noise/fractal/octave.c || fail "$compiler alone is refused"
    for options in -ffast-math -Ofast -ffinite-math-only; do
        refused '-ffast-math or a part of it' $compiler $options
    done
done
for options in -funsafe-math-optimizations '-fassociative-math -fno-signed-zeros -fno-trapping-math' -freciprocal-math \
    -fno-signed-zeros; do
    # shellcheck disable=SC2086
    refused '-ffast-math or a part of it' gcc $options
done
refused 'FLT_EVAL_METHOD 0' gcc -mfpmath=387
refused 'as in IEEE 754' gcc -fsingle-precision-constant

# kernels COMPILER OPTION: print the kernels that make terrains in a build with OPTION.
kernels() {
    local build=$directory/$1${2//=/-} # no "=", which make takes for a variable
    make --no-print-directory BUILD="$build" CC="$1" CFLAGS="-O2 $2" SAN= "$build/tests/proofs/bits" >"$directory/log" 2>&1 || {
        cat "$directory/log" >&2
        fail "$1 $2 does not compile"
    }
    "$build/tests/proofs/bits"
}

mkdir -p "$directory"
make --no-print-directory BUILD=build SAN= build/tests/proofs/bits >"$directory/log"
all=$(build/tests/proofs/bits)
build/tests/proofs/bits "$(head -n 1 <<<"$all")" >"$directory/bits"

fused=$(kernels gcc -ffp-contract=fast)
[ "$fused" = "$all" ] || fail "gcc -ffp-contract=fast has the kernels $fused, not $all"
for kernel in $fused; do
    "$directory/gcc-ffp-contract-fast/tests/proofs/bits" "$kernel" | cmp -s "$directory/bits" - ||
        fail "gcc -ffp-contract=fast: $kernel computes other bits"
done
# On x86-64 only the scalar kernel has no instruction that would fuse.
fused=$(kernels clang -ffp-contract=fast)
[ -z "${fused/scalar/}" ] || fail "clang -ffp-contract=fast makes terrains of $fused"
unsafe=$(kernels clang -funsafe-math-optimizations)
[ -z "$unsafe" ] || fail "clang -funsafe-math-optimizations makes terrains of $unsafe"
echo "no compiler option changes a height in silence"
