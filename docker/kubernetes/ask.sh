#!/bin/sh
# Asks for every tile in LIST, a path a line as `farlands render --list` prints them, at BASE, in the
# background: what somebody waits for goes first. So each node renders and keeps what is its own.
#
#   ask.sh LIST BASE
#
# A node that is busy says when to come again, and one that restarts is waited for. AT_ONCE: how many
# are asked for at a time. Exit: 0 all are there; 1 not all: they are named, and the same command does
# the rest, for what is there costs next to nothing.
set -eu

list=$1
base=${2%/}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One curl after another on each of AT_ONCE lines: in curl's own --parallel, what waits for its next try
# makes room for more, so that a busy node is asked by all of the list.
# shellcheck disable=SC2016 # the inner shell's
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
