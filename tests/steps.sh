# A test run in steps: one line each, with a time and counts; if a step fails, the failing rows in its log. Sourced, not run.
#
#   steps_begin DIR            logs go to DIR
#   step NAME COMMAND...       run COMMAND; steps may run side by side: { step A ...; } & { step B ...; } & wait
#   steps_leave_out NAME...    note that these steps are not run this time
#   steps_end                  list slowest tests, known faults, steps left out, skipped tests, totals; fail if a step failed
#
# Counts come from the summaries of Check and of node --test; a step without a summary counts as one test. A step hangs if
# it has not ended after STEP_LIMIT seconds (half an hour, three times the longest step): it is ended, and has failed.
# shellcheck shell=bash

steps_begin() {
    steps_logs=$1
    rm -rf "$steps_logs"
    mkdir -p "$steps_logs"
    : >"$steps_logs/results"
    : >"$steps_logs/left-out"
    # For Makefile: print a format that this file can read, not one for people.
    export NODE_REPORTER=--test-reporter=tap
}

steps_leave_out() {
    printf '%s\n' "$@" >>"$steps_logs/left-out"
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

failing_rows() {
    awk -f "$(dirname "${BASH_SOURCE[0]}")/failing_rows.awk" "$1"
}

# Print what a failed step shows from its log. A lint tool prints nothing but complaints.
show_failure() {
    local rows=
    [[ $1 = */lint-* ]] || rows=$(failing_rows "$1")
    if [ -n "$rows" ]; then printf '%s\n' "$rows"; else tail -n 200 "$1"; fi
}

# cpu_seconds FILE: print the CPU seconds between two outputs of `times` in FILE, for programs that have ended.
cpu_seconds() {
    awk '
        NR % 2 == 0 { gsub(/[ms]/, " "); seconds = 60 * $1 + $2 + 60 * $3 + $4 - seconds }
        END { printf "%.0f", seconds }' "$1"
}

step() {
    local name=$1 log=$steps_logs/${1//[ \/]/-}.log limit=${STEP_LIMIT:-1800} status=0 start=$SECONDS passed failed skipped
    shift
    [ ! -t 1 ] || printf '...    %s\r' "$name"
    times >"$log.times" # not of a command substitution, which is a shell of its own
    # In the background and with a process group of its own, so that a signal to this shell ends it at once.
    trap 'trap - INT TERM; jobs -p | xargs -r kill -TERM 2>/dev/null || :; wait || :; exit 130' INT TERM
    timeout --kill-after=60 "$limit" "$@" >"$log" 2>&1 </dev/null &
    wait $! || status=$?
    times >>"$log.times"
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        { tail -n 20 "$log" | sed 's/^/    /'; echo "not ok: it hung, and was ended after $limit s"; } >"$log.end"
        cat "$log.end" >>"$log"
    fi
    read -r passed failed skipped < <(counts "$log")
    [ $((passed + failed)) -gt 0 ] || if [ "$status" -eq 0 ]; then passed=1; else failed=1; fi
    [ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
    {
        [ "$status" -eq 0 ] || { show_failure "$log"; echo "(all of it: $log)"; } | sed "s|^|$name: |"
        grep -a '%: Checks: ' "$log" | grep -av '^not ok: ' | sed 's/^/    /' || :
        printf '%-6s %-24s %4d s  %s\n' "$([ "$status" -eq 0 ] && echo ok || echo FAILED)" "$name" $((SECONDS - start)) \
            "$passed passed, $failed failed, $skipped skipped, CPU $(cpu_seconds "$log.times") s"
    } >"$log.report"
    cat "$log.report"
    echo "$passed $failed $skipped $name" >>"$steps_logs/results"
    return "$status"
}

# Print seconds and names of the tests in LOG...: unit programs, and node --test's tests without tests below them.
durations() {
    awk '
        FNR == 1 { step = FILENAME; sub(/.*\//, "", step); sub(/\.log$/, "", step) }
        match($0, / +[0-9]+%: Checks: .*, [0-9.]+ s$/) {
            printf "%8.1f s  %s: %s\n", $(NF - 1), step, substr($0, 1, RSTART - 1)
            next
        }
        { match($0, /^ */); depth = RLENGTH / 4 }
        /^ *# Subtest: / { sub(/^ *# Subtest: /, ""); names[depth] = $0; below[depth] = 0; below[depth - 1] = 1; next }
        /^ *(not )?ok [0-9]+/ { test = !below[depth] && !/# SKIP/; level = depth; next }
        test && /^ *duration_ms: / {
            title = ""
            for (i = 0; i <= level; i++) {
                name = names[i]
                sub(/.*\/tests\//, "", name)
                title = title (i ? " > " : "") name
            }
            printf "%8.1f s  %s: %s\n", $2 / 1000, step, title
            test = 0
        }' "$@"
}

steps_end() {
    local skipped slowest known
    known=$(sed -nE 's/^ *ok [0-9]+ - (.*) # TODO known: *(.*)/    \1: \2/p' "$steps_logs"/*.log | sort -u)
    [ -z "$known" ] || printf 'known faults (tests/known.mjs):\n%s\n' "$known"
    slowest=$(durations "$steps_logs"/*.log | sort -rn | awk 'NR <= 10')
    [ -z "$slowest" ] || printf 'the slowest tests:\n%s\n' "$slowest"
    [ ! -s "$steps_logs/left-out" ] || { echo "not run this time:" && paste -sd, "$steps_logs/left-out" | sed 's/,/, /g' | fold -sw 120 | sed 's/^/    /'; }
    skipped=$(sed -nE 's/^ *ok [0-9]+ - (.*) # SKIP *(.*)/    \1: \2/p; s/^skipped: /    /p' "$steps_logs"/*.log | sort -u)
    [ -z "$skipped" ] || printf 'skipped:\n%s\n' "$skipped"
    awk -v seconds="$SECONDS" '
        { passed += $1; failed += $2; skipped += $3; name = $0; sub(/^[0-9]+ [0-9]+ [0-9]+ /, "", name); if ($2) names = names (names ? ", " : " ") name }
        END {
            if (names) print "failed:" names
            printf "%d s\n%d passed, %d failed, %d skipped\n", seconds, passed, failed, skipped
            exit names != ""
        }' "$steps_logs/results"
}
