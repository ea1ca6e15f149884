#!/usr/bin/env bash
# Fails if anything but server/core/clock.h reads time: tests could not hold it.
#
#   tests/proofs/one-clock.sh    or `make lint`
set -euo pipefail
cd "$(dirname "$0")/../.."

reads='\<(uv_hrtime|uv_now|uv_clock_gettime|clock_gettime|gettimeofday|timespec_get|clock|time) *\('
if grep -rnE --include='*.[ch]' "$reads" noise config server | grep -vE '^server/core/clock\.h:|^[^:]+:[0-9]+: *(/?\*|//)'; then
    echo "one-clock: the lines above read time; expected: the functions of server/core/clock.h"
    exit 1
fi
