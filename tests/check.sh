#!/usr/bin/env bash
# Runs suites, side by side where two cores have room for both.
#
#   tests/check.sh GROUP...    of: lint, build, daily, long, sanitized, sanitized:SAN (such as sanitized:thread);
#                              see tests/README.md
#
# TURN=N makes it run a share of the long proofs and of the sanitizers, chosen by the number N.
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

# Nothing can be tested if this fails.
build() {
    step "build${1:+ $1}" "${MAKE:-make}" --no-print-directory "-j$(nproc)" ${1:+SAN="$1"} "${2:-check-all-programs}" || {
        steps_end
        exit 1
    }
}

lint() {
    suite lint lint
}

daily() {
    suites units http
    suites faults &
    suites examples load library hardening benches smoke &
    wait
}

# share WORD...: all of them, or with TURN one of them.
share() {
    [ -z "${TURN:-}" ] || set -- "${@:1 + TURN % $#:1}"
    printf '%s\n' "$@"
}

# Alone, because they measure times. Each share takes about 75 s.
attacks() {
    local names
    share 'cost texts heads framing cache' 'memory spawns connections' 'queue streams headers' | while read -r names; do
        suite "attacks: $names" check-attacks ATTACKS="$names"
    done
}

# Soaks and slow clients wait most of the time.
patient_proofs() {
    local name
    for name in $(share crash restarts reloads signals steady); do
        suite "soak $name" soak SOAKS="$name"
    done
    share 'slow headers' 'slow bodies' 'slow read' ranges | while read -r name; do
        suite "slow clients: $name" check-slow SLOW="$name"
    done
}

# Other systems take minutes each.
busy_proofs() {
    local name all=
    [ $((${TURN:-0} % 5)) -ne 0 ] || all=--all
    share same-bits windows 'package package-13 cmake' aarch64 | tr ' ' '\n' | while read -r name; do
        if [ "$name" = aarch64 ]; then
            suite "aarch64 $all" check-aarch64 AARCH64="$all"
        else
            suite "$name" "check-$name"
        fi
    done
}

# Suites of other programs: a browser, proxies, map libraries. A share takes some eight minutes.
other_programs() {
    case $1 in
    browser) suites browser ;;
    attacks) attacks ;;
    *)
        suites cluster &
        suites clients &
        wait
        ;;
    esac
}

long() {
    local name
    suites kernels
    share graphs courses | while read -r name; do
        suites "$name"
    done
    share 'attacks clients' browser | tr ' ' '\n' | while read -r name; do
        other_programs "$name"
    done
    patient_proofs &
    busy_proofs &
    suites debian-13 &
    wait
    suite fuzz fuzz
}

# SANITIZER NAME...: the suites of these names, http beside the others.
sanitized_suites() {
    local name
    build "$1" check-programs
    for name in "${@:2}"; do
        [ "$name" != http ] || suite "http $1" check-http SAN="$1" &
        [ "$name" = http ] || suite "$name $1" "check-$name" SAN="$1"
    done
    wait
}

# The thread sanitizer does without the browser, whose requests http sends as well.
sanitized() {
    local names
    if [ "${1:-}" = thread ]; then
        sanitized_suites thread http units faults
    elif [ $# -gt 0 ]; then
        sanitized_suites "$1" http units faults browser
    else
        share 'address,undefined units' 'address,undefined http faults browser' 'thread http units faults' \
            memory-instrumented memory-units memory-http |
            while read -r names; do
                # shellcheck disable=SC2086 # words
                if [[ $names = memory-* ]]; then suites $names; else sanitized_suites $names; fi
            done
    fi
}

steps_begin build/check
for group in "$@"; do
    IFS=: read -r name argument <<<"$group"
    "$name" ${argument:+"$argument"}
done
steps_end
