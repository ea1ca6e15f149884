#!/usr/bin/env bash
# Runs unit test programs, several at a time, and prints one line per program with the seconds taken, and a line with the
# total. If a program fails, prints all failing rows and its other output, marked with "not ok: ".
#
#   [RUN=qemu-aarch64] [JOBS=2] [UNBUILT="PROGRAM..."] tests/units.sh PROGRAM...    the slowest first
#
# UNBUILT: programs that could not be built. They count as failed, and the others run.
set -euo pipefail

# shellcheck disable=SC2317 # called by xargs
run_one() {
    local program=$1 name=${1##*/tests/unit/} log status=0 start=$EPOCHREALTIME
    name=${FARLANDS_KERNEL:+$FARLANDS_KERNEL: }$name
    if [[ " $UNBUILT " = *" $program "* ]]; then
        printf 'not ok: %s: 0%%: Checks: 1, Failures: 0, Errors: 1: it cannot be built; the errors are above\n' "$name"
        return 1
    fi
    # shellcheck disable=SC2086 # a command, or nothing
    log=$($RUN "$program" 2>&1) || status=$?
    if [ "$status" -eq 0 ]; then
        printf '%-36s %s, %s s\n' "$name" "$(grep -a '^[0-9]*%: Checks: ' <<<"$log")" \
            "$(awk -v from="$start" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.1f", to - from }')"
        return
    fi
    # All failing rows, and up to 100 other lines, such as a sanitizer's.
    { printf '%s\n' "$log" && grep -qa '^[0-9]*%: Checks: ' <<<"$log" || echo "0%: Checks: 1, Failures: 0, Errors: 1"; } |
        awk -v name="$name" '/:[FE]:/ || /%: Checks: / || ++others <= 100 { print "not ok: " name ": " $0 }'
    echo "not ok: $name: exit code $status"
    return 1
}
export -f run_one
export RUN=${RUN:-} UNBUILT=${UNBUILT:-}

failed=0
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I PROGRAM bash -uc 'run_one "$@"' run_one PROGRAM || failed=1
[ "$failed" -ne 0 ] || echo "units: all $# programs passed"
exit "$failed"
