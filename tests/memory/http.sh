#!/usr/bin/env bash
# Runs the daemon under valgrind with files of tests/http: [FARLANDS=PROGRAM] [NODE=node] tests/memory/http.sh 02-urls...
# Fails if a process reads memory before it is written. The files' own results do not count, because the daemon is thirty
# times slower and refuses work that waits for more than a second. A file is stopped after nine minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."

logs=$PWD/build/memory-logs tests=()
for name in "$@"; do
    tests+=("tests/http/$name.test.mjs")
done
rm -rf "$logs"
mkdir -p "$logs"
MEMORY_PROGRAM=$(realpath "${FARLANDS:-build/farlands}") MEMORY_LOGS=$logs FARLANDS=$PWD/tests/memory/valgrind.sh PATIENCE=5 \
    timeout 540 "${NODE:-node}" --test --test-concurrency=2 "${tests[@]}" >build/memory-http.log 2>&1 || :

# valgrind also logs system calls that it does not know; errors begin with the process's number.
faults=$(grep -l '^==[0-9]*==' "$logs"/* || :)
processes=$(find "$logs" -type f | wc -l)
[ "$processes" -gt 0 ] || {
    tail -n 50 build/memory-http.log >&2
    echo "no process has run under valgrind" >&2
    exit 1
}
for log in $faults; do
    grep '^==[0-9]*==' "$log" >&2
done
echo "$processes processes, $(wc -w <<<"$faults") with errors"
[ -z "$faults" ]
