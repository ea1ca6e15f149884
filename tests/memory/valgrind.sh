#!/usr/bin/env bash
# Runs a program under valgrind, which reports reads of memory that was not written, with stacks:
#
#   [MEMORY_LOGS=DIR] tests/memory/valgrind.sh PROGRAM ARGUMENT...    its exit code is 99 after an error
#   MEMORY_PROGRAM=PROGRAM tests/memory/valgrind.sh ARGUMENT...       in place of PROGRAM itself
#
# In DIR is a log for each process, which is empty without errors.
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)

# One thread runs at a time: in turn, or one that spins would hold up the others. Leaks are the address sanitizer's.
# For the origins of what a report names: VALGRIND_OPTS=--track-origins=yes, in twice the time.
exec valgrind --quiet --error-exitcode=99 --fair-sched=yes --leak-check=no --num-callers=30 \
    --suppressions="$folder/../valgrind.supp" ${MEMORY_LOGS:+--log-file="$MEMORY_LOGS/%p"} \
    ${MEMORY_PROGRAM:+"$MEMORY_PROGRAM"} "$@"
