#!/bin/bash
# Checks that no compiler, optimisation or kernel changes a bit of a height: builds noise/
# and bits.c with gcc and clang, at -O0 and -O3, runs every kernel of this machine, and
# compares their output grid by grid, and graph by graph. WebAssembly computes the first
# 2000 graphs.
#
#   tests/proofs/same-bits.sh      or `make check-same-bits`, which installs its requirements
set -euo pipefail
cd "$(dirname "$0")/../.."
directory=build/same-bits
expected=
status=0

# All others must equal the first.
compare() {
    local name=$1 bits=$2
    if [ -z "$expected" ]; then
        expected=$bits
    elif ! cmp -s "$expected" "$bits"; then
        echo "FAIL: $name differs from $(basename "$expected" .bits), whose lines come first:"
        diff "$expected" "$bits" | sed -n '/^[<>]/p' | sort -k 3 -s | head -n 8 || :
        echo "$(diff "$expected" "$bits" | grep -c '^>' || :) of $(wc -l <"$bits") grids differ"
        status=1
    fi
    printf '%-20s %s\n' "$name" "$(sha256sum <"$bits" | cut -c 1-16)"
}

for compiler in gcc clang; do
    for level in -O0 -O3; do
        build=$directory/$compiler$level
        make --no-print-directory BUILD="$build" CC="$compiler" CFLAGS="$level" SAN= "$build/tests/proofs/bits"
        for kernel in $("$build/tests/proofs/bits"); do
            bits=$directory/$compiler$level-$kernel.bits
            "$build/tests/proofs/bits" "$kernel" >"$bits"
            compare "$compiler $level $kernel" "$bits"
        done
    done
done

module=build/tests/proofs/graph_bits.wasm
make --no-print-directory BUILD=build SAN= $module
"${NODE:-node}" tests/proofs/graph_bits.mjs $module 2000 >$directory/wasm.hashes
if ! grep ' graph ' "$expected" | sed -n 's, .*,,;1,2000p' | diff - $directory/wasm.hashes >$directory/wasm.diff; then
    echo "FAIL: WebAssembly differs in $(grep -c '^>' $directory/wasm.diff) of 2000 graphs:"
    sed -n 's/^< //p' $directory/wasm.diff | head -n 4 | grep --file=- "$expected" || :
    status=1
fi
[ "$status" -ne 0 ] || echo "the same bits, of $(grep -vc ' graph ' "$expected") grids and $(grep -c ' graph ' "$expected") graphs"
exit "$status"
