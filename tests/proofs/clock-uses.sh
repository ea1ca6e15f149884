#!/usr/bin/env bash
# Fails if the product reads time elsewhere than in server/core/clock.h, because tests could not stop such a clock. Fails
# if a test reads a clock or sleeps more often, or less often, than clock-uses.txt says.
#
#   tests/proofs/clock-uses.sh [--update]     or `make lint`; --update writes the list again
#
# A test that compares a time with a number fails on a busy machine. Instead it orders two answers, counts, waits by
# eventually(), or moves the program's clock: see tests/README.md. The listed uses may take longer without making a test
# fail. The list may only shrink. tests/bench/ measures times, and CI does not run it.
set -euo pipefail
cd "$(dirname "$0")/../.."

list=tests/proofs/clock-uses.txt

uses() {
    git ls-files --cached --others --exclude-standard 'tests/*.mjs' 'tests/*.c' 'tests/*.h' 'tests/*.sh' |
        grep -vE '^tests/(bench/|proofs/clock-uses\.sh)' | xargs grep -oHE \
        'Date\.now|new Date\(\)|performance\.now|hrtime|\b(u|nano|uv_)?sleep\(|setTimeout\(|waitForTimeout|[<>]=? *patience\(|clock_gettime|clock_nanosleep|uv_now|gettimeofday|\btime\((NULL|0)\)|\bsleep [0-9"$]|date \+%s|EPOCH(SECONDS|REALTIME)' |
        cut -d: -f1 | sort | uniq -c | awk '{ print $1, $2 }'
}

if [ "${1:-}" = --update ]; then
    uses >"$list"
    exit
fi

failed=0
reads='\<(uv_hrtime|uv_now|uv_clock_gettime|clock_gettime|gettimeofday|timespec_get|clock|time) *\('
if grep -rnE --include='*.[ch]' "$reads" noise config server | grep -vE '^server/core/clock\.h:|^[^:]+:[0-9]+: *(/?\*|//)'; then
    echo "clock-uses: the lines above read time; expected: the functions of server/core/clock.h"
    failed=1
fi

uses | awk -v failed="$failed" -v list="$list" '
    BEGIN {
        while ((getline line <list) > 0) {
            split(line, entry, " ")
            allowed[entry[2]] = entry[1]
        }
    }
    {
        if ($1 > allowed[$2]) {
            print $2 ": " $1 " uses of a clock or of sleep, and " allowed[$2] + 0 " allowed in " list
            failed = 1
        }
        found[$2] = $1
    }
    END {
        for (file in allowed)
            if (found[file] < allowed[file]) {
                print file ": " found[file] + 0 " uses of a clock or of sleep: lower its entry " allowed[file] " in " list ", by tests/proofs/clock-uses.sh --update"
                failed = 1
            }
        exit failed
    }'
