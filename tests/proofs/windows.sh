#!/bin/bash
# Checks that libfarlands computes the same values on 64-bit Windows. Builds the library by CMake with mingw-w64,
# optimised and not, and bits.c with the library's parts; runs bits.c under wine with each kernel, and compares the output
# with this machine's. Then does the same with world_bits.c and the daemon's documents for all sample worlds, linked with
# the DLL as well.
#
#   tests/proofs/windows.sh      or `make check-windows`, which installs its requirements
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$PWD/build/windows
scratch=$build/worlds
farlands=$PWD/build/farlands
wine=/usr/lib/wine/wine64
export WINEPREFIX=$build/wine WINEDEBUG=-all
. tests/proofs/serve_worlds.sh

fail() {
    echo "FAIL: ${0##*/}: $*" >&2
    exit 1
}

rm -rf "$scratch"
mkdir -p "$scratch"
finish() {
    [ -z "$daemon" ] || kill "$daemon"
    /usr/lib/wine/wineserver --kill || :
    rm -rf "$WINEPREFIX"
}
trap finish EXIT
# One wineserver for all programs: a server that ends after the last program may take the next one with it.
mkdir -p "$WINEPREFIX"
/usr/lib/wine/wineserver --persistent

cat >"$build/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(bits C)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
add_subdirectory(${FARLANDS}/noise farlands)
add_executable(world_bits ${FARLANDS}/tests/proofs/world_bits.c)
target_compile_definitions(world_bits PRIVATE __USE_MINGW_ANSI_STDIO)
target_link_libraries(world_bits PRIVATE farlands::farlands)
if(NOT BUILD_SHARED_LIBS)
    add_executable(bits ${FARLANDS}/tests/proofs/bits.c ${FARLANDS}/tests/proofs/graph_bits.c)
    target_include_directories(bits PRIVATE ${FARLANDS})
    target_compile_definitions(bits PRIVATE _GNU_SOURCE)
    target_link_libraries(bits PRIVATE farlands::farlands)
endif()
END

# build_as NAME OPTION...
build_as() {
    { cmake -S "$build" -B "$build/$1" -DFARLANDS="$PWD" -DCMAKE_SYSTEM_NAME=Windows \
        -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc "${@:2}" &&
        cmake --build "$build/$1" -j "$(nproc)"; } >"$build/log" 2>&1 || {
        tail -n 30 "$build/log"
        fail "the build $1"
    }
}

# same_noise NAME: compare this build's bits.exe, with each kernel.
same_noise() {
    local kernel kernels
    kernels=$("$wine" "$build/$1/bits.exe" | tr -d '\r') || fail "wine does not run bits.exe"
    for kernel in $kernels; do
        "$wine" "$build/$1/bits.exe" "$kernel" | tr -d '\r' >"$build/$1-$kernel.bits" ||
            fail "$1, $kernel: bits.exe fails"
        if ! cmp -s "$build/here.bits" "$build/$1-$kernel.bits"; then
            diff "$build/here.bits" "$build/$1-$kernel.bits" | sed -n '/^[<>]/p' | sort -k 3 -s | head -n 8 || :
            fail "$1, $kernel: other bits; first this machine's lines, then its"
        fi
        echo "windows, $1, $kernel: the same bits as on this machine, in $(wc -l <"$build/here.bits") grids"
    done
}

# same_world NAME WORLD [LOCALE]: compare this build's world_bits.exe.
same_world() {
    "$wine" "$build/$1/world_bits.exe" "$scratch/$2.json" "${@:3}" | tr -d '\r' >"$scratch/$2.$1" ||
        fail "$*: $(cat "$scratch/$2.$1")"
    diff "$scratch/$2.here" "$scratch/$2.$1" || fail "$*: other values; first this machine's lines, then its"
}

same_worlds() {
    local world said
    for world in "${worlds[@]}"; do
        same_world "$1" "$world"
    done
    same_world "$1" default German
    said=$("$wine" "$build/$1/world_bits.exe" "$scratch/worlds.yaml") && fail "$1: a world from YAML"
    [[ $said == "text:1: not JSON: "*"; expected JSON, the complete document"*"this build has no libyaml"* ]] ||
        fail "$1: the message for YAML is $said"
    echo "windows, $1: the values of ${#worlds[@]} worlds from documents, as on this machine"
}

make --no-print-directory BUILD=build SAN= build/tests/proofs/{,world_}bits
build/tests/proofs/bits "$(build/tests/proofs/bits | head -n 1)" >"$build/here.bits"
serve_worlds
for world in "${worlds[@]}"; do
    download "$world.json" "$scratch/$world.json"
    build/tests/proofs/world_bits "$scratch/$world.json" >"$scratch/$world.here" || fail "world_bits: $world"
done
for type in Release Debug; do
    build_as $type -DCMAKE_BUILD_TYPE=$type
    same_worlds $type
    same_noise $type
done
build_as DLL -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON
same_worlds DLL
