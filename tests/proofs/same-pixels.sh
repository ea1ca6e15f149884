#!/usr/bin/env bash
# The same files from every level of x86-64: layers, filters and codes have versions for
# each, of which the machine at hand runs one. qemu plays the others.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${FARLANDS:-build/farlands}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if [ "$(uname -m)" != x86_64 ]; then
    echo "same-pixels: only x86-64 has levels"
    exit 0
fi
tiles=(relief/6/31/32 relief/22/9/-9 hillshade/10/500/515 gray/4/7/8 height/12/-3/70 terrarium/9/255/256
    terrain-rgb/14/8000/8191 normal/8/120/130)
for tile in "${tiles[@]}"; do
    "$program" tile "default/$tile.png" -o "$folder/native.png"
    for cpu in Nehalem Haswell; do
        qemu-x86_64 -cpu "$cpu" "$program" tile "default/$tile.png" -o "$folder/$cpu.png" 2>"$folder/log" ||
            { cat "$folder/log" >&2; exit 1; }
        cmp "$folder/native.png" "$folder/$cpu.png"
    done
done
echo "same-pixels: ${#tiles[@]} tiles, the same bytes at every level"
