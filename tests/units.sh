#!/usr/bin/env bash
# Runs unit test programs, several at a time: one line per program, all of its output if it fails, one line in total.
#
#   [RUN=qemu-aarch64] [JOBS=2] tests/units.sh PROGRAM...    the slowest first
set -euo pipefail

# shellcheck disable=SC2317 # called by xargs
run_one() {
    local program=$1 name=${1##*/tests/unit/} log status=0
    # shellcheck disable=SC2086 # a command, or nothing
    log=$($RUN "$program" 2>&1) || status=$?
    if [ "$status" -eq 0 ]; then
        printf '%-36s %s\n' "${FARLANDS_KERNEL:+$FARLANDS_KERNEL: }$name" "$(grep -a '^[0-9]*%: Checks: ' <<<"$log")"
    else
        printf '%s\n' "$log" "not ok: ${FARLANDS_KERNEL:+$FARLANDS_KERNEL: }$name: exit code $status" | sed "s|^|$name: |"
        return 1
    fi
}
export -f run_one
export RUN=${RUN:-}

failed=0
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I PROGRAM bash -uc 'run_one "$@"' run_one PROGRAM || failed=1
[ "$failed" -ne 0 ] || echo "units: all $# programs passed"
exit "$failed"
