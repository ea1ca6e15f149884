#!/bin/bash
# Tests libfarlands from outside, installed in a scratch directory and found by pkg-config
# alone: shared and static, from C and C++, it computes the daemon's heights bit for bit, for
# every world, from the daemon's JSON and from YAML. It exports only farlands_*, needs only
# libc, libm and (for worlds) libyaml, and has no state. `make check-library` builds it first.
#
#   tests/proofs/library.sh [--cmake]    --cmake: instead, projects that embed it or find it by CMake
set -euo pipefail
cd "$(dirname "$0")/../.."
farlands=${FARLANDS:-$PWD/build/farlands}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/farlands-library-XXXXXX")
. tests/proofs/serve_worlds.sh
finish() {
    [ -z "$daemon" ] || kill "$daemon"
    rm -rf "$scratch"
}
trap finish EXIT
prefix=/opt/farlands
root=$scratch/root
lib=$root$prefix/lib

fail() {
    echo "FAIL: ${0##*/}: $*" >&2
    exit 1
}

# make_installation TARGET [LIBDIR]: install as packagers do: the files will not stay below DESTDIR.
make_installation() {
    make --no-print-directory "$1" PREFIX="$prefix" LIBDIR="$prefix/${2:-lib}" DESTDIR="$root" \
        >"$scratch/make.log" 2>&1 || {
        cat "$scratch/make.log"
        fail "make $1"
    }
}

check_files() {
    local file
    for file in bin/farlands include/farlands.h lib/libfarlands.{a,so,so.0} lib/pkgconfig/farlands.pc \
        share/farlands/farlands.{yaml,js,wasm} share/man/man{1/farlands.1,5/farlands.yaml.5} \
        share/bash-completion/completions/farlands; do
        [ -e "$root$prefix/$file" ] || fail "make install leaves out $file"
    done
    for file in config/worlds/*.yaml; do
        [ ! -e "$file" ] || [ -e "$root$prefix/share/farlands/${file#config/}" ] ||
            fail "make install leaves out $file"
    done
    ! grep -rqF "$root" "$lib/pkgconfig" || fail "DESTDIR is in farlands.pc"
}

# Print the names of writable sections that are not empty.
writable_sections() {
    readelf --sections --wide "$1" | sed -n 's/^ *\[ *[0-9]*\] //p' |
        awk '$1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /^\.data\.rel\.ro/ && $5 !~ /^0+$/ { print $1 }'
}

# Print the symbols in libc, libm and libyaml, from the files that the linker uses.
library_symbols() {
    local name
    for name in libc.so.6 libm.so.6 libyaml.so; do
        nm --dynamic --defined-only --format=posix "$(gcc "-print-file-name=$name")"
    done | sed 's/[@ ].*//' | sort -u
}

# symbols OPTION... FILE: print the names without versions, sorted.
symbols() {
    nm --format=posix "$@" | awk 'NF > 1 && !/^FARLANDS_/ { sub(/@.*/, "", $1); print $1 }' | sort -u
}

# The public header without comments and spaces, a line for each semicolon.
declarations() {
    gcc -E "$root$prefix/include/farlands.h" |
        awk '/^# [0-9]+ "/ { own = $3 ~ /farlands\.h"$/; next } own' | tr -s ' \n' ' ' | sed 's/; */;\n/g'
}

# The layout of the public structures.
layouts() {
    cat >"$scratch/layouts.c" <<'END'
#include <farlands.h>
#include <stdio.h>
#define SIZE(s) printf("struct %s: %zu bytes\n", #s, sizeof(struct s))
#define PLACE(s, member) printf("struct %s: %s at %zu\n", #s, #member, offsetof(struct s, member))
int main(void)
{
    SIZE(farlands_grid);
    PLACE(farlands_grid, x);
    PLACE(farlands_grid, y);
    PLACE(farlands_grid, step);
    PLACE(farlands_grid, width);
    PLACE(farlands_grid, height);
    PLACE(farlands_grid, band_limit);
    SIZE(farlands_course_point);
    PLACE(farlands_course_point, x);
    PLACE(farlands_course_point, y);
    PLACE(farlands_course_point, level);
    PLACE(farlands_course_point, bed);
    PLACE(farlands_course_point, width);
    PLACE(farlands_course_point, order);
    PLACE(farlands_course_point, kind);
    SIZE(farlands_course);
    PLACE(farlands_course, i);
    PLACE(farlands_course, j);
    PLACE(farlands_course, step);
    SIZE(farlands_box);
    PLACE(farlands_box, x);
    PLACE(farlands_box, y);
    PLACE(farlands_box, z);
    PLACE(farlands_box, step);
    PLACE(farlands_box, width);
    PLACE(farlands_box, height);
    PLACE(farlands_box, depth);
}
END
    compile gcc "$scratch/layouts.c" layouts
    "$scratch/layouts"
}

# A program linked with an earlier build must run with this one: names, their versions, types and layouts must be those
# in library.abi. To add a function, add its lines there; other changes need another soname.
check_abi() {
    {
        echo "# The ABI of libfarlands.so.0, which library.sh compares."
        readelf --dyn-syms --wide "$lib/libfarlands.so.0" | awk '/ farlands_/ && $7 != "UND" { print $8 }' | sort
        declarations
        layouts
    } >"$scratch/library.abi"
    diff tests/proofs/library.abi "$scratch/library.abi" ||
        fail "the ABI has changed; if this only adds functions, commit the lines above to tests/proofs/library.abi"
}

check_symbols() {
    local shared=$lib/libfarlands.so.0 stray
    readelf --dynamic --wide "$shared" | grep -q 'SONAME.*\[libfarlands\.so\.0\]' ||
        fail "the soname is not libfarlands.so.0"
    stray=$(readelf --dynamic --wide "$shared" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -Ev '^(libc|libm|ld-linux-.*)\.so\.[0-9]+$|^libyaml-0\.so\.2$' || :)
    [ -z "$stray" ] || fail "the shared library needs $stray"

    # Exactly the functions of the headers.
    declarations | grep -v 'static inline' | grep -ohE '\bfarlands_[a-z0-9_]+\(' | tr -d '(' | sort -u \
        >"$scratch/declared"
    symbols --dynamic --defined-only "$shared" | diff "$scratch/declared" - ||
        fail "the shared library exports other names than the headers declare"
    symbols --extern-only --defined-only "$lib/libfarlands.a" | diff "$scratch/declared" - ||
        fail "the static library exports other names than the headers declare"

    # __cpu_model and __cpu_indicator_init are in libgcc, which gcc and clang link into every program.
    { library_symbols; cat "$scratch/declared"; } | sort -u >"$scratch/known"
    stray=$(symbols --undefined-only "$lib/libfarlands.a" | comm -23 - "$scratch/known" |
        grep -Ev '^(__cpu_model|__cpu_indicator_init|_GLOBAL_OFFSET_TABLE_)$' || :)
    [ -z "$stray" ] || fail "symbols that are not in libc, libm or libyaml: $stray"

    stray=$(writable_sections "$lib/libfarlands.a")
    [ -z "$stray" ] || fail "the library has state, in $stray"
}

# The options of examples/heights.c.
write_world() {
    cat >"$scratch/world.yaml" <<'END'
worlds:
  - name: example
    seed: 2026
    native_zoom: 16
    origin: [-8388608, -8388608]
    noise:
      { basis: perlin, gradients: unit256, fade: quintic, hash: mix64, fractal: fbm,
        wavelength: 4096, octaves: 12, persistence: 0.5, lacunarity: 2.0 }
    elevation: [[-0.5, -300], [0, 0], [0.5, 900]]
END
}

# compare HEIGHTS TILE: compare the example's output with a tile's first rows. It is C++ and
# calls the library, to test the header and the names in C++.
write_compare() {
    cat >"$scratch/compare.cc" <<'END'
#include <cmath>
#include <cstdio>
#include <cstring>
#include <farlands.h>

int main(int, char **argv)
{
    farlands_world *world = nullptr;
    char message[FARLANDS_MESSAGE];
    if (farlands_world_new(&world, "name: a", 7, nullptr, message, sizeof message) == 0)
        return std::fputs("a world of a name alone\n", stderr), 1;
    const farlands_grid grid = farlands_chunk(-1, 2, 3, 4);
    if (grid.x != farlands_units(-1) || farlands_block(grid.x) != -1 ||
        !std::isnan(farlands_value(world, nullptr, "height", 0, 0)))
        return std::fputs("the helpers are wrong in C++\n", stderr), 1;
    std::FILE *text = std::fopen(argv[1], "r"), *tile = std::fopen(argv[2], "rb");
    if (!text || !tile)
        return std::perror("fopen"), 1;
    for (int i = 0; i < 8; i++) {
        float printed = 0, expected[256];
        if (std::fread(expected, sizeof expected, 1, tile) != 1)
            return std::fputs("the tile is too short\n", stderr), 1;
        for (int j = 0; j < 8; j++)
            if (std::fscanf(text, "%f", &printed) != 1 ||
                std::memcmp(&printed, &expected[j], sizeof printed) != 0)
                return std::fprintf(stderr, "row %d, column %d: %a is not the tile's %a\n", i, j,
                                    double(printed), double(expected[j])), 1;
    }
}
END
}

# compile COMPILER SOURCE PROGRAM [LINKING]: compile with pkg-config's flags and no others.
compile() {
    local flags said
    said=$(PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$lib/pkgconfig \
        pkg-config --cflags --libs ${4:+--static} farlands) || fail "pkg-config knows no farlands"
    read -ra flags <<<"$said"
    "$1" -Wall -Wextra -Werror -pedantic "$2" -o "$scratch/$3" ${4:+"$4"} "${flags[@]}" ||
        fail "$3 does not compile"
}

# same_heights PROGRAM: check that PROGRAM prints the heights in the daemon's tiles, near and far.
same_heights() {
    local place tile_x tile_y x y
    # Tile x begins at block 256 x - 2^23. The places are around the middle, 2^45 blocks
    # to the west, and at the southern end of the world.
    for place in "32768 32768 0 0" "32765 32775 -768 1792" \
        "-137438920704 32768 -35184372088832 0" "32768 17592186077183 0 4503599627370240"; do
        read -r tile_x tile_y x y <<<"$place"
        "$farlands" tile "example/height/16/$tile_x/$tile_y.f32" \
            --config "$scratch/world.yaml" -o "$scratch/tile.f32" || fail "no tile $tile_x/$tile_y"
        "$scratch/$1" "$x" "$y" >"$scratch/heights" || fail "$1 $x $y: exit $?"
        "$scratch/compare" "$scratch/heights" "$scratch/tile.f32" ||
            fail "$1: at ($x, $y) the heights differ from the daemon's"
    done
}

# same_worlds PROGRAM: check that from each world's JSON and YAML it prints the heights in a tile.
same_worlds() {
    local name zoom x y document=$scratch/world.json
    for name in "${worlds[@]}"; do
        download "$name.json" "$document"
        read -r zoom x y < <(sed -E \
            's/.*"native_zoom":([0-9]+),"origin":\[(-?[0-9]+),(-?[0-9]+)\].*/\1 \2 \3/' "$document")
        download "$name/height/$zoom/1/-2.f32" "$scratch/tile.f32"
        for file in "$document" "$scratch/worlds.yaml"; do
            "$scratch/$1" "$file" "$name" $((x + 256)) $((y - 512)) >"$scratch/heights" ||
                fail "$1 $name: exit $?"
            "$scratch/compare" "$scratch/heights" "$scratch/tile.f32" ||
                fail "$1: the heights of $name in ${file##*/} differ from the daemon's"
        done
    done
}

# A project with both examples. With FARLANDS, the sources, it embeds the library; else it finds an installed one.
write_game() {
    mkdir "$scratch/game"
    cp tests/examples/{heights,world}.c "$scratch/game"
    cat >"$scratch/game/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(game C)
set(LIBRARY farlands CACHE STRING "farlands or static")
if(FARLANDS)
    add_subdirectory(${FARLANDS}/noise farlands)
else()
    find_package(farlands ${WANTED} REQUIRED)
    find_package(farlands QUIET) # again, as another part of a project may do
endif()
foreach(name heights world)
    add_executable(${name} ${name}.c)
    target_link_libraries(${name} PRIVATE farlands::${LIBRARY})
endforeach()
END
}

# by_cmake SOURCES NAME OPTION...: configure and build SOURCES in the directory NAME.
by_cmake() {
    { cmake -S "$1" -B "$scratch/$2" "${@:3}" && cmake --build "$scratch/$2" -j "$(nproc)"; } >"$scratch/cmake.log" 2>&1 || {
        tail -n 40 "$scratch/cmake.log"
        fail "cmake: $2"
    }
}

# not_by_cmake SAYING SOURCES OPTION...: check that CMake refuses SOURCES and says why.
not_by_cmake() {
    ! cmake -S "$2" -B "$scratch/refused" "${@:3}" >"$scratch/cmake.log" 2>&1 || fail "cmake accepts ${*:2}"
    tr -s '\n ' ' ' <"$scratch/cmake.log" | grep -q "$1" || { cat "$scratch/cmake.log"; fail "cmake does not say: $1"; }
    rm -rf "$scratch/refused"
}

# installed_by_cmake NAME OPTION...: build in $scratch/NAME and install below $scratch/NAME-root, at another prefix than
# configured.
installed_by_cmake() {
    by_cmake "$PWD/noise" "$1" "${@:2}"
    DESTDIR=$scratch/$1-root cmake --install "$scratch/$1" --prefix "$prefix" >"$scratch/cmake.log" || fail "cmake --install $1"
}

# finds NAME ROOT LIBRARY...: check that programs find the installation below ROOT by pkg-config and by find_package, link
# each LIBRARY, shared or static, and compute the daemon's heights. The first LIBRARY is farlands::farlands.
finds() {
    local root=$2 lib library
    lib=$(find "$root$prefix" -path '*/pkgconfig/farlands.pc' -printf %h)
    lib=${lib%/pkgconfig}
    compile gcc tests/examples/heights.c "$1-pc"
    by_cmake "$scratch/game" "$1-game" -DWANTED=0.1 -DCMAKE_PREFIX_PATH="$root$prefix"
    links "$1-pc" "$3"
    links "$1-game/heights" "$3"
    for library in "${@:3}"; do
        if [ "$library" = static ]; then
            compile gcc tests/examples/heights.c "$1-pc-static" -static
            by_cmake "$scratch/game" "$1-game-static" -DLIBRARY=static -DCMAKE_PREFIX_PATH="$root$prefix"
            links "$1-pc-static" static
            links "$1-game-static/heights" static
        fi
    done
    echo "libfarlands by $1, ${*:3}: found by pkg-config and CMake, the daemon's heights"
}

# links PROGRAM KIND: check that it links the shared or the static library, and computes the daemon's heights.
links() {
    local kind=static
    ! readelf --dynamic "$scratch/$1" | grep -q 'NEEDED.*\[libfarlands\.so\.0\]' || kind=shared
    [ "$kind" = "$2" ] || fail "$1 links the $kind library"
    LD_LIBRARY_PATH=$lib:$LD_LIBRARY_PATH same_heights "$1"
}

# installed_files ROOT...: print the names below the prefix in each ROOT.
installed_files() {
    (cd / && find "${@/%/$prefix}" ! -type d -printf '%P %l\n') | sed 's, $,,' | sort -u
}

check_cmake() {
    local name wanted
    write_game
    # -ffast-math also makes the program flush subnormal numbers to zero.
    by_cmake "$scratch/game" embedded -DFARLANDS="$PWD" -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS=-ffast-math
    same_heights embedded/heights
    same_worlds embedded/world
    echo "libfarlands by CMake: the daemon's heights, embedded"

    finds make "$root" shared static
    installed_by_cmake shared -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DCMAKE_INSTALL_LIBDIR=lib
    finds shared "$scratch/shared-root" shared
    same_worlds shared-game/world
    installed_by_cmake static -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug -DCMAKE_INSTALL_LIBDIR=lib
    finds static "$scratch/static-root" static
    diff <(installed_files "$root") <(installed_files "$scratch"/{shared,static}-root) ||
        fail "make install-lib (<) and cmake --install (>) install other files"

    # Install in a directory like Debian's, then move everything below the prefix.
    make_installation install-lib lib/machine
    cp -r "$root$prefix" "$scratch/moved"
    by_cmake "$scratch/game" moved-game -DCMAKE_PREFIX_PATH="$scratch/moved" -Dfarlands_DIR="$scratch/moved/lib/machine/cmake/farlands"
    same_heights moved-game/heights
    echo "libfarlands by make: found by CMake where it was moved to"

    for wanted in 0.2 1.0 "0.0;EXACT"; do
        not_by_cmake 'Could not find a configuration file for package "farlands"' "$scratch/game" -DWANTED="$wanted" \
            -DCMAKE_PREFIX_PATH="$scratch/moved" -Dfarlands_DIR=
    done
}

# A compiler for a 32-bit processor, if it comes to a compilation at all.
check_narrow() {
    local narrow="clang --target=i686-linux-gnu" expected='this compiler is for 32-bit processors; expected one that has __int128'
    not_by_cmake "$expected" noise -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS=--target=i686-linux-gnu \
        -DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY
    for name in lib all; do
        ! make BUILD="$scratch/narrow" CC="$narrow" "$name" >"$scratch/make.log" 2>&1 || fail "make $name for 32-bit processors"
        grep -q "$narrow.*$expected" "$scratch/make.log" || { cat "$scratch/make.log"; fail "make $name does not say: $expected"; }
    done
    echo "libfarlands for 32-bit processors: refused, by make and CMake"
}

# If pkg-config finds no libyaml, the library reads only documents, which make the same worlds.
check_without_libyaml() {
    local name said
    compile gcc tests/proofs/world_bits.c yaml-bits
    export PKG_CONFIG_LIBDIR=/none
    installed_by_cmake json -DCMAKE_C_COMPILER=gcc -DCMAKE_INSTALL_LIBDIR=lib
    by_cmake "$scratch/game" json-game -DCMAKE_PREFIX_PATH="$scratch/json-root$prefix"
    root=$scratch/json-root lib=$scratch/json-root$prefix/lib compile gcc tests/proofs/world_bits.c json-bits
    for name in "${worlds[@]}"; do
        download "$name.json" "$scratch/world.json"
        "$scratch/yaml-bits" "$scratch/world.json" >"$scratch/expected" || fail "$name: $(cat "$scratch/expected")"
        "$scratch/json-bits" "$scratch/world.json" | diff "$scratch/expected" - || fail "$name differs without libyaml"
    done
    said=$("$scratch/json-bits" "$scratch/worlds.yaml") && fail "a world from YAML without libyaml"
    [[ $said == *"expected JSON, the complete document"*"this build has no libyaml"* ]] || fail "for YAML it says $said"
    not_by_cmake 'FARLANDS_YAML needs pkg-config and libyaml' noise -DFARLANDS_YAML=ON
    echo "libfarlands by CMake: the same values from documents, without libyaml"
}

write_world
write_compare
export LD_LIBRARY_PATH=$lib
if [ "${1:-}" = --cmake ]; then
    make_installation install-lib
    compile g++ "$scratch/compare.cc" compare
    serve_worlds
    check_cmake
    check_narrow
    check_without_libyaml
    exit
fi
make_installation install
check_files
check_symbols
check_abi
serve_worlds

compile g++ "$scratch/compare.cc" compare
for name in heights world; do
    compile gcc tests/examples/$name.c $name-shared
    compile gcc tests/examples/$name.c $name-static -static
    readelf --dynamic "$scratch/$name-shared" | grep -q 'NEEDED.*\[libfarlands\.so\.0\]' ||
        fail "the shared example $name does not need libfarlands.so.0"
done
same_heights heights-shared
same_heights heights-static
same_worlds world-shared
same_worlds world-static
"$scratch/heights-shared" 1 x 2>/dev/null && fail "the example accepts x as a number"
"$scratch/world-shared" "$scratch/worlds.yaml" none 0 0 2>"$scratch/said" &&
    fail "the example accepts any name"
grep -q 'no world "none"' "$scratch/said" || fail "the message for a wrong name is $(cat "$scratch/said")"
# The example in the header.
sed -n '/^ \*     #include/,/^ \*     }/s/^ \*     //p' "$root$prefix/include/farlands.h" >"$scratch/chunk.c"
sed -i 's|//\(.*\)|/*\1 */|' "$scratch/chunk.c"
compile gcc "$scratch/chunk.c" chunk
[ "$("$scratch/chunk")" = "-402.59 m in the middle" ] || fail "the example in farlands.h: $("$scratch/chunk")"

make_installation uninstall
left=$(find "$root" ! -type d)
[ -z "$left" ] || fail "make uninstall leaves $left"
echo "libfarlands: the daemon's heights, shared and static, from C and C++, for every world"
