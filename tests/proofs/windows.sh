#!/bin/bash
# Checks that libfarlands computes the same heights on 64-bit Windows: builds noise/ and bits.c by
# CMake with mingw-w64, optimised and not, runs them under wine with each kernel, and compares
# their output with this machine's.
#
#   tests/proofs/windows.sh      or `make check-windows`, which installs its requirements
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build/windows
wine=/usr/lib/wine/wine64
export WINEPREFIX=$build/wine WINEDEBUG=-all

fail() {
    echo "FAIL: ${0##*/}: $*" >&2
    exit 1
}

mkdir -p "$build"
finish() {
    /usr/lib/wine/wineserver --kill || :
    rm -rf "$WINEPREFIX"
}
trap finish EXIT
# One server for all programs: a server that ends for want of them may take the next one with it.
mkdir -p "$WINEPREFIX"
/usr/lib/wine/wineserver --persistent

cat >"$build/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(bits C)
add_subdirectory(${FARLANDS}/noise farlands)
add_executable(bits ${FARLANDS}/tests/proofs/bits.c ${FARLANDS}/tests/proofs/graph_bits.c)
target_include_directories(bits PRIVATE ${FARLANDS})
target_compile_definitions(bits PRIVATE _GNU_SOURCE)
target_link_libraries(bits PRIVATE farlands::farlands)
END

make --no-print-directory BUILD=build SAN= build/tests/proofs/bits
build/tests/proofs/bits "$(build/tests/proofs/bits | head -n 1)" >"$build/here.bits"
for type in Release Debug; do
    { cmake -S "$build" -B "$build/$type" -DFARLANDS="$PWD" -DCMAKE_BUILD_TYPE=$type -DCMAKE_SYSTEM_NAME=Windows \
        -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc &&
        cmake --build "$build/$type" -j "$(nproc)" --target bits; } >"$build/log" 2>&1 || {
        tail -n 30 "$build/log"
        fail "the $type build"
    }
    kernels=$("$wine" "$build/$type/bits.exe" | tr -d '\r') || fail "wine does not run bits.exe"
    for kernel in $kernels; do
        "$wine" "$build/$type/bits.exe" "$kernel" | tr -d '\r' >"$build/$type-$kernel.bits" ||
            fail "$type, $kernel: bits.exe fails"
        if ! cmp -s "$build/here.bits" "$build/$type-$kernel.bits"; then
            diff "$build/here.bits" "$build/$type-$kernel.bits" | sed -n '/^[<>]/p' | sort -k 3 -s | head -n 8 || :
            fail "$type, $kernel: other bits; first this machine's lines, then its"
        fi
        echo "windows, $type, $kernel: the same bits as on this machine, in $(wc -l <"$build/here.bits") grids"
    done
done
