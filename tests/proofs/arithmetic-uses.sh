#!/usr/bin/env bash
# Fails if a file of noise/ does not include exact/arithmetic.h, directly or through others. Without that header a compiler
# may fuse a * b + c, or take options of -ffast-math, and heights would differ from machine to machine.
#
#   tests/proofs/arithmetic-uses.sh     or `make lint`
set -euo pipefail
cd "$(dirname "$0")/../.."

# These compute with integers alone, or are a table.
exceptions=(noise/exact/permutation.c noise/fractal/gradients.c)

failed=0
for file in noise/*/*.c; do
    # -MG: headers of other machines, such as wasm_simd128.h, are not here.
    if "${CC:-cc}" -MM -MG -std=gnu11 -I. "$file" | grep -q 'noise/exact/arithmetic\.h'; then
        reaches=yes
    else
        reaches=no
    fi
    [[ " ${exceptions[*]} " == *" $file "* ]] && expected=no || expected=yes
    [ "$reaches" = "$expected" ] && continue
    [ "$reaches" = no ] && echo "$file: expected #include \"noise/exact/arithmetic.h\", or a header that includes it"
    [ "$reaches" = yes ] && echo "$file: includes exact/arithmetic.h: take it out of the exceptions in $0"
    failed=1
done
exit $failed
