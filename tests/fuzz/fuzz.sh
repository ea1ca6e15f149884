#!/usr/bin/env bash
# Runs fuzz targets, two at a time: tests/fuzz/fuzz.sh SECONDS TARGET...
# A target starts from its committed corpus, which stays as it is, and keeps new inputs in build/fuzz/corpus/ for the
# next run. SECONDS 0 runs the committed corpus alone. A target ends at its first crash and keeps that input in
# build/fuzz/crashes/. Fails if a dictionary lacks a word: words.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."

run_one() {
    local seconds=$1 target=$2 found=build/fuzz/corpus/$2 log=build/fuzz/$2.log
    local limit=(-max_total_time="$seconds") directories=("$found" tests/fuzz/corpus/"$target")
    if [ "$seconds" = 0 ]; then
        limit=(-runs=0)
        directories=(tests/fuzz/corpus/"$target")
    fi
    [ -e "tests/fuzz/$target.dict" ] && limit+=(-dict="tests/fuzz/$target.dict")
    mkdir -p "$found" build/fuzz/crashes
    if "build/fuzz/tests/fuzz/fuzz_$target" "${limit[@]}" -timeout=10 -rss_limit_mb=1024 \
        -artifact_prefix="build/fuzz/crashes/$target-" "${directories[@]}" >"$log" 2>&1; then
        echo "$target: no crash, $(grep -Eo 'DONE.*' "$log" | tail -1)"
    else
        grep -v '^#' "$log" | tail -60 >&2
        echo "$target: CRASHED; to repeat: build/fuzz/tests/fuzz/fuzz_$target" \
            "$(grep -Eo "build/fuzz/crashes/$target-[^ ]*" "$log" | tail -1)" >&2
        return 1
    fi
}
export -f run_one

tests/fuzz/words.sh
seconds=$1
shift
# xargs fails if a target fails.
printf '%s\n' "$@" | xargs -P 2 -I TARGET bash -euc 'run_one "$@"' run_one "$seconds" TARGET
