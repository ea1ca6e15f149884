#!/usr/bin/env bash
# Fails if a file includes from a later room, or if two files include each other in a circle.
#
#   tests/proofs/include-order.sh [DIR]    or `make lint`; DIR instead of the repository
#
# The order of the rooms stands here and in server/README.md.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

order=(noise config core layers telemetry png webp world net http routing cache tiles viewer api
    daemon commands describe prerender main)

# INCLUDER INCLUDED, one line per include of a file of the project.
edges() {
    grep -rE --include='*.[ch]' --include='*.def' '^ *# *include "' noise config server |
        sed -E 's/^([^:]+):.*"([^"]+)".*/\1 \2/' |
        while read -r includer included; do
            [ -e "$included" ] || included=$(dirname "$includer")/$included
            echo "$includer $included"
        done
}

all=$(mktemp)
trap 'rm -f "$all"' EXIT
edges >"$all"
[ "$(wc -l <"$all")" -gt 100 ] || { echo "include-order: no includes found"; exit 1; }

awk -v order="${order[*]}" '
    function room(path, parts) {
        split(path, parts, "/")
        if (parts[1] != "server")
            return parts[1]
        sub(/\..*/, "", parts[2]) # server/main.c
        return parts[2]
    }
    BEGIN {
        count = split(order, rooms, " ")
        for (i = 1; i <= count; i++)
            rank[rooms[i]] = i
    }
    {
        from = room($1)
        to = room($2)
        if (!(from in rank) || !(to in rank)) {
            print $1 ": includes " $2 ": not in a room of the order: " order
            failed = 1
        } else if (rank[to] > rank[from]) {
            print $1 ": includes " $2 ", but " to " comes after " from
            failed = 1
        }
    }
    END { exit failed }' "$all"

# tsort names the members of a circle on standard error.
circles=$(tsort "$all" 2>&1 >/dev/null) || { echo "include-order: files include each other:" "${circles//tsort:/}"; exit 1; }
