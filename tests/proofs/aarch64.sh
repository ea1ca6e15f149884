#!/bin/bash
# Checks that 64-bit ARM computes the same heights: cross-compiles noise/ and its tests,
# runs them under qemu with each kernel, and compares the output of bits.c with this
# machine's.
#
#   tests/proofs/aarch64.sh [--all]    or `make check-aarch64 [AARCH64=--all]`
#
# Without --all only the suites below run, because qemu is about thirty times slower. The other
# suites' results follow from the same bits.
#
# Debian has no cross packages for the tests' libraries. So the arm64 packages are unpacked in
# build/, not installed, and apt's lists are there, too.
# Exit: 0 the same, 1 not the same, 2 could not try.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/aarch64
sysroot=$PWD/$build/sysroot
packages=(check libsubunit-dev libyaml-dev libpng-dev zlib1g-dev)
export PATIENCE=${PATIENCE:-30}
units=(tests/unit/noise/check_{arithmetic,graph,graph_exact,graph_golden,noise,noise_golden,noise_systems}.c)
[ "${1:-}" != --all ] || units=(tests/unit/noise/check_{arithmetic,graph,noise}*.c)

unable() {
    echo "${0##*/}: $*" >&2
    exit 2
}

fill_sysroot() {
    local apt=$PWD/$build/apt file
    local options=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
    mkdir -p "$apt"/{lists,cache/archives}/partial
    rm -f "$apt"/*.deb
    apt-get "${options[@]}" update || unable "apt-get update, for arm64"
    (cd "$apt" && apt-get "${options[@]}" download "${packages[@]}") ||
        unable "apt-get download, for arm64"
    rm -rf "$sysroot" "$sysroot.new"
    for file in "$apt"/*.deb; do
        dpkg-deb --extract "$file" "$sysroot.new"
    done
    mv "$sysroot.new" "$sysroot"
}

# Static programs, because qemu then needs no ARM libraries. The tests are compiled at -O2,
# because the cross gcc 12 crashes at -O3 (check_noise_systems.c).
cross_make() {
    PKG_CONFIG_SYSROOT_DIR=$sysroot \
        PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig \
        make --no-print-directory BUILD="$build" SAN= CC=aarch64-linux-gnu-gcc RUN=qemu-aarch64 \
        UNIT_CFLAGS=-O2 LIBRARIES="yaml-0.1 libpng" CPPFLAGS="-isystem $sysroot/usr/include" \
        LDFLAGS="-static -L$sysroot/usr/lib/aarch64-linux-gnu" "$@"
}

same_bits() {
    local kernel
    make --no-print-directory BUILD=build SAN= build/tests/proofs/bits
    build/tests/proofs/bits "$(build/tests/proofs/bits | head -n 1)" >"$build/here.bits"
    for kernel in $(qemu-aarch64 "$build/tests/proofs/bits"); do
        qemu-aarch64 "$build/tests/proofs/bits" "$kernel" >"$build/$kernel.bits"
        if ! cmp -s "$build/here.bits" "$build/$kernel.bits"; then
            echo "FAIL: $kernel differs; first this machine's lines, then its:"
            diff "$build/here.bits" "$build/$kernel.bits" | sed -n '/^[<>]/p' | sort -k 3 -s |
                head -n 8 || :
            exit 1
        fi
        echo "$kernel: the same bits as on this machine, in $(wc -l <"$build/here.bits") grids"
    done
}

[ -d "$sysroot" ] || fill_sysroot
cross_make "$build/tests/proofs/bits"
same_bits
export CK_TIMEOUT_MULTIPLIER=20
cross_make UNITS="tests/unit/noise/check_lattice.c ${units[*]}" KERNEL_UNITS="${units[*]}" \
    check-units check-kernels
