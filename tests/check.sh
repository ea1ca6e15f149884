#!/usr/bin/env bash
# Runs suites, side by side if two cores have room for both.
#
#   tests/check.sh GROUP...    groups: lint, build, build:TARGET, daily, debian, by_turns, share:NAME, sanitized:SAN (such
#                              as sanitized:thread); see tests/README.md
#
# TURN=N makes by_turns run one of its shares, chosen by the number N, and name the others at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/steps.sh
. tests/steps.sh

# suite NAME TARGET...: a step that makes TARGET. A failure is counted and does not end the run.
suite() {
    step "$1" "${MAKE:-make}" --no-print-directory "${@:2}" || :
}

suites() {
    local name
    for name in "$@"; do
        suite "$name" "check-$name"
    done
}

# build [TARGET [SAN]]: builds whatever compiles; the suites count the rest as failed. Fails if there is no daemon, because
# then nothing can be tested.
build() {
    step "build${2:+ $2}" "${MAKE:-make}" --no-print-directory --keep-going --output-sync "-j$(nproc)" ${2:+SAN="$2"} \
        "${1:-check-all-programs}" || "${MAKE:-make}" ${2:+SAN="$2"} all >/dev/null 2>&1
}

# Each tool of `make lint`.
lint() {
    local tool
    [ -n "${LINTS:-}" ] || LINTS=$(sed -n 's/^LINTS := //p' Makefile)
    for tool in $LINTS; do
        suite "lint-$tool" "lint-$tool"
    done
}

daily() {
    suites units http
    suites faults &
    suites examples load library hardening benches smoke &
    wait
}

# Build and test on Debian 13.
debian() {
    suites debian-13
}

# sanitized SANITIZER [NAME...]: the suites with these names, http beside the others; without names all suites. The thread
# sanitizer leaves out the browser, because http sends the same requests. Units have both cores if http is not beside them.
sanitized() {
    local name sanitizer=$1 jobs=2
    shift
    [ $# -gt 0 ] || if [ "$sanitizer" = thread ]; then set -- http units faults; else set -- http units faults browser; fi
    [[ " $* " != *" http "* ]] || jobs=1
    build check-programs "$sanitizer" || return 0
    for name in "$@"; do
        [ "$name" != http ] || suite "http $sanitizer" check-http SAN="$sanitizer" &
        [ "$name" = http ] || suite "$name $sanitizer" "check-$name" SAN="$sanitizer" UNIT_JOBS="$jobs"
    done
    wait
}

# The browser's files in two halves: every second file.
browser_files() {
    printf '%s\n' tests/browser/*.test.mjs | awk -v half="$1" 'NR % 2 == half % 2' | paste -sd ' '
}

# The long proofs. Each share takes at most ten minutes on two cores without other work.
share() {
    local name=$1
    case $name in
    browser-*) suite "$name" check-browser BROWSER_TESTS="$(browser_files "${name#*-}")" ;;
    attacks-1) suite "$name" check-attacks ATTACKS="cost texts heads framing cache" ;;
    attacks-2) suite "$name" check-attacks ATTACKS="memory spawns connections" ;;
    attacks-3) suite "$name" check-attacks ATTACKS="queue streams headers" ;;
    attacks-4) suite "$name" check-attacks ATTACKS="far searches" ;;
    attacks-5) suite "$name" check-attacks ATTACKS="seeds requests mixed" ;;
    fuzz) suite "$name" fuzz ;;
    soak-*) suite "$name" soak SOAKS="${name#*-}" ;;
    slow-*) suite "$name" check-slow SLOW="$(tr - ' ' <<<"${name#*-}")" ;;
    aarch64-all) suite "$name" check-aarch64 AARCH64=--all ;;
    debian-13-clang) suite "$name" check-debian-13-clang ;;
    address-units) sanitized address,undefined units ;;
    address-http) sanitized address,undefined http ;;
    address-others) sanitized address,undefined faults browser ;;
    thread-units) sanitized thread units faults ;;
    thread-http) sanitized thread http ;;
    *) suites "$name" ;;
    esac
}

# Shares take turns, so that twelve commits in a row run every share; tests/README.md has a table. Shares behind "|" run
# beside the others, because they mostly wait. Without TURN no share sanitizes: `make SAN=... check` does.
turns() {
    local without='(address|thread|memory)-[a-z]*'
    [ -z "${TURN:-}" ] || without=' +$'
    sed -E "s/$without//g" <<'END'
browser-1 graphs | soak-crash
browser-2 debian-13-clang kernels | slow-ranges
clients cluster attacks-4 | soak-signals
fuzz same-bits attacks-5 | soak-restarts
address-units attacks-1 | slow-read
address-http cmake | slow-bodies
address-others attacks-2 | soak-reloads
thread-units package | slow-headers
thread-http package-13 | soak-steady
memory-instrumented courses windows
memory-units attacks-3 aarch64
memory-http aarch64-all
END
}

# run_turn SHARE... | SHARE...
run_turn() {
    local name before beside
    IFS='|' read -r before beside <<<"$*"
    for name in $beside; do share "$name"; done &
    for name in $before; do share "$name"; done
    wait
}

# Run the turn that TURN chooses, or without TURN all turns.
by_turns() {
    local number=0 turn
    while read -r turn; do
        if [ -z "${TURN:-}" ] || [ $((TURN % 12)) -eq "$number" ]; then
            run_turn "$turn" </dev/null
        else
            # shellcheck disable=SC2086 # names
            steps_leave_out ${turn/|/}
        fi
        number=$((number + 1))
    done < <(turns)
}

steps_begin "${LOGS:-build/check}"
for group in "$@"; do
    IFS=: read -r name argument <<<"$group"
    "$name" ${argument:+"$argument"} || break
done
steps_end
