#!/usr/bin/env bash
# Runs a program under valgrind, which reports with stacks each read of memory before it is written:
#
#   [MEMORY_LOGS=DIR] tests/memory/valgrind.sh PROGRAM ARGUMENT...    its exit code is 99 after an error
#   MEMORY_PROGRAM=PROGRAM tests/memory/valgrind.sh ARGUMENT...       in place of PROGRAM itself
#
# DIR gets a log for each process, which is empty if there are no errors.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)

# One thread runs at a time, in turns, because otherwise a spinning thread would hold up the others. Leaks are left to
# the address sanitizer. VALGRIND_OPTS=--track-origins=yes also reports where the memory comes from, in twice the time.
exec valgrind --quiet --error-exitcode=99 --fair-sched=yes --leak-check=no --num-callers=30 \
    --suppressions="$folder/../valgrind.supp" ${MEMORY_LOGS:+--log-file="$MEMORY_LOGS/%p"} \
    ${MEMORY_PROGRAM:+"$MEMORY_PROGRAM"} "$@"
