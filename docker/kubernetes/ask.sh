#!/bin/sh
# Requests every tile in LIST (one path per line, as `farlands render --list` prints them) from BASE with background
# priority, so that other requests go first. Each node then renders and keeps its own tiles.
#
#   ask.sh LIST BASE
#
# Retries as a busy node's Retry-After says, and waits for nodes that restart. AT_ONCE: the number of parallel
# requests. Exit status: 0 if all tiles are there; 1 if not. Then the missing ones are printed, and the same
# command continues, because existing tiles cost next to nothing.
set -eu

list=$1
base=${2%/}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# AT_ONCE processes, each running one curl after another. With curl's own --parallel a request that waits for its
# retry makes room for others, so a busy node would soon get the whole list.
# shellcheck disable=SC2016 # expanded by the inner shell
ask() {
    sed "s|^/*|--output /dev/null $base/|" "$1" |
        xargs -n 150 -P "${AT_ONCE:-8}" sh -c 'curl --silent --globoff --fail --header "Priority: u=7" \
            --retry 120 --retry-delay 1 --retry-connrefused --connect-timeout 5 --max-time 60 \
            --write-out "%{http_code} %{url_effective} %{errormsg}\n" "$@" \
            >"$(mktemp "$0/answers.XXXXXX")" || :' "$work"
}

split -l 5000 -a 5 "$list" "$work/part."
asked=0
there=0
for part in "$work"/part.*; do
    [ -e "$part" ] || break # an empty list
    ask "$part"
    cat "$work"/answers.* >"$work/all"
    rm "$work"/answers.*
    grep -v '^200 ' "$work/all" >&2 || :
    asked=$((asked + $(wc -l <"$part")))
    there=$((there + $(grep -c '^200 ' "$work/all" || :)))
    echo "$there of $asked tiles are there"
done
[ "$there" -eq "$asked" ]
