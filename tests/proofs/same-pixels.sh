#!/usr/bin/env bash
# Checks that every x86-64 level gives the same files, PNG and WebP. Layers, filters and codes are compiled for each
# level; this machine runs one level, and qemu the others. Noise has kernels of its own, which same-bits.sh compares on
# real processors, because qemu 7.2 computes other values with AVX2's.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${FARLANDS:-build/farlands}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

if [ "$(uname -m)" != x86_64 ]; then
    echo "skipped: same-pixels: for x86-64 only"
    exit 0
fi
export FARLANDS_KERNEL=scalar
fractal=tests/worlds/fractal.yaml
layers=$("$program" check-config "$fractal") # the last words of its only line
tiles=("config/worlds/default.yaml relief/22/9/-9") # colored by climate
for layer in ${layers##*, layers }; do
    tiles+=("$fractal $layer/10/500/515" "$fractal $layer/22/9/-9")
done
# libwebp's own code for each level.
tiles+=("$fractal relief/10/500/515 webp" "$fractal hillshade/9/255/257@2x webp")
for tile in "${tiles[@]}"; do
    read -r config path extension <<<"$tile"
    "$program" tile --config "$config" "default/$path.${extension:-png}" -o "$directory/native"
    for cpu in Nehalem Haswell; do
        qemu-x86_64 -cpu "$cpu" "$program" tile --config "$config" "default/$path.${extension:-png}" -o "$directory/$cpu" 2>"$directory/log" ||
            { cat "$directory/log" >&2; exit 1; }
        cmp "$directory/native" "$directory/$cpu"
    done
done
echo "same-pixels: ${#tiles[@]} tiles, the same bytes at every level"
