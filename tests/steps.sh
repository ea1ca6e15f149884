# Steps of a run of tests: one line each, with a time and counts; the log is shown if a step fails. Sourced, not run.
#
#   steps_begin DIR            logs go to DIR
#   step NAME COMMAND...       run it; steps may run side by side: { step A ...; } & { step B ...; } & wait
#   steps_end                  list known faults and what was skipped, print totals; fails if a step has failed
#
# Counts come from the summaries of Check and of node --test; a step without them counts as one test.
# shellcheck shell=bash

steps_begin() {
    steps_logs=$1
    rm -rf "$steps_logs"
    mkdir -p "$steps_logs"
    : >"$steps_logs/results"
    # For Makefile: a format that this file reads, and not only people.
    export NODE_REPORTER=--test-reporter=tap
}

# counts LOG: PASSED FAILED SKIPPED
counts() {
    awk '
        /^# pass [0-9]+$/ { passed += $3 }
        /^# (fail|cancelled) [0-9]+$/ { failed += $3 }
        /^# skipped [0-9]+$/ { skipped += $3 }
        /^# todo [0-9]+$/ { passed += $3 }
        /[0-9]+%: Checks: / {
            sub(/.*%: Checks: /, "")
            split($0, numbers, /[^0-9]+/)
            failed += numbers[2] + numbers[3]
            passed += numbers[1] - numbers[2] - numbers[3]
        }
        END { print passed + 0, failed + 0, skipped + 0 }' "$1"
}

# The failing part of a log: of TAP each test that is not ok and the lines below it, else the end.
show_failure() {
    if grep -qE '^ *not ok [0-9]' "$1"; then
        awk '/^ *not ok [0-9]/ { show = 1 } /^ *ok [0-9]/ { show = 0 } show' "$1" | head -n 300
    else
        tail -n 100 "$1"
    fi
}

step() {
    local name=$1 log=$steps_logs/${1//[ \/]/-}.log status=0 start=$SECONDS passed failed skipped
    shift
    "$@" >"$log" 2>&1 </dev/null || status=$?
    read -r passed failed skipped < <(counts "$log")
    [ $((passed + failed)) -gt 0 ] || if [ "$status" -eq 0 ]; then passed=1; else failed=1; fi
    [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
    {
        [ "$status" -eq 0 ] || { show_failure "$log" | sed "s|^|$name: |"; }
        grep -a '%: Checks: ' "$log" | sed 's/^/    /' || :
        printf '%-6s %-24s %4d s  %s\n' "$([ "$status" -eq 0 ] && echo ok || echo FAILED)" "$name" $((SECONDS - start)) \
            "$passed passed, $failed failed, $skipped skipped"
    } >"$log.report"
    cat "$log.report"
    echo "$passed $failed $skipped $name" >>"$steps_logs/results"
    return "$status"
}

steps_end() {
    local skipped known
    known=$(sed -nE 's/^ *ok [0-9]+ - (.*) # TODO known: *(.*)/    \1: \2/p' "$steps_logs"/*.log | sort -u)
    [ -z "$known" ] || printf 'known faults (tests/known.mjs):\n%s\n' "$known"
    skipped=$(sed -nE 's/^ *ok [0-9]+ - (.*) # SKIP *(.*)/    \1: \2/p; s/^skipped: /    /p' "$steps_logs"/*.log | sort -u)
    [ -z "$skipped" ] || printf 'skipped:\n%s\n' "$skipped"
    awk -v seconds="$SECONDS" '
        { passed += $1; failed += $2; skipped += $3; if ($2) names = names " " $4 }
        END {
            if (names) print "failed:" names
            printf "%d s\n%d passed, %d failed, %d skipped\n", seconds, passed, failed, skipped
            exit names != ""
        }' "$steps_logs/results"
}
