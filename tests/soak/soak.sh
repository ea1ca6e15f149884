#!/usr/bin/env bash
# Runs soaks by name, and goes on if one fails: tests/soak/soak.sh crash restarts ...
# SOAK=short makes each take less than a minute.
set -euo pipefail
failed=0
for name in "$@"; do
    rounds=()
    [ "$name" != crash ] || if [ "${SOAK:-}" = short ]; then rounds=(20); else rounds=(200); fi
    "${NODE:-node}" "tests/soak/$name.mjs" "${rounds[@]}" || failed=1
done
exit "$failed"
