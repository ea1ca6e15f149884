#!/usr/bin/env bash
# Run fuzz targets, two at a time: tests/fuzz/fuzz.sh SECONDS TARGET... Each begins with its committed
# corpus, which is only read; what it finds besides stays in build/fuzz/corpus/ for the next run.
# SECONDS 0: the committed corpus alone. The first crash of a target ends it; its input is kept.
set -euo pipefail
cd "$(dirname "$0")/../.."

run_one() {
    local seconds=$1 target=$2 found=build/fuzz/corpus/$2 log=build/fuzz/$2.log
    local limit=(-max_total_time="$seconds") folders=("$found" tests/fuzz/corpus/"$target")
    if [ "$seconds" = 0 ]; then
        limit=(-runs=0)
        folders=(tests/fuzz/corpus/"$target")
    fi
    [ -e "tests/fuzz/$target.dict" ] && limit+=(-dict="tests/fuzz/$target.dict")
    mkdir -p "$found" build/fuzz/crashes
    if "build/fuzz/tests/fuzz/fuzz_$target" "${limit[@]}" -timeout=10 -rss_limit_mb=1024 \
        -artifact_prefix="build/fuzz/crashes/$target-" "${folders[@]}" >"$log" 2>&1; then
        echo "$target: no crash, $(grep -Eo 'DONE.*' "$log" | tail -1)"
    else
        grep -v '^#' "$log" | tail -60 >&2
        echo "$target: CRASHED; again: build/fuzz/tests/fuzz/fuzz_$target" \
            "$(grep -Eo "build/fuzz/crashes/$target-[^ ]*" "$log" | tail -1)" >&2
        return 1
    fi
}
export -f run_one

seconds=$1
shift
# xargs fails where one of them has.
printf '%s\n' "$@" | xargs -P 2 -I TARGET bash -euc 'run_one "$@"' run_one "$seconds" TARGET
