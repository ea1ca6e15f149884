#!/usr/bin/env bash
# Fails if a file includes from a later room, if an object uses a later room's function or variable, or if files include
# each other in a circle. Objects are checked because templates hide calls: a kernel includes a template, and the template
# calls a function without a line that says whose it is.
#
#   tests/proofs/room-order.sh [--in DIR] OBJECT...    or `make lint-rooms`, which builds the objects; DIR instead of the
#                                                      repository
#
# The order of the rooms stands here, and in README.md of noise/, config/ and server/. A room is a directory. Files beside the
# rooms are a room as well: farlands.h is the first of noise/, key_table.c the last of config/, main.c that of server/.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "${1:-}" != --in ] || { cd "$2"; shift 2; }

order=(noise noise/{exact,fractal,space,graph,kernel,drainage,water,evaluate,terrain}
    config/{values,fields,world,text,reading,daemon,library} config
    server/{core,layers,telemetry,png,webp,world,net,http,routing,cache,tiles,viewer,api,daemon,commands,describe,prerender}
    server)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Print "FILE includes OTHER", one line per include of a project file.
grep -rE --include='*.[ch]' --include='*.def' '^ *# *include "' noise config server |
    sed -E 's/^([^:]+):.*"([^"]+)".*/\1 \2/' |
    while read -r includer included; do
        [ -e "$included" ] || included=$(dirname "$includer")/$included
        echo "$includer includes $included"
    done >"$scratch/includes"

# Print "FILE uses NAME of OTHER", one line per symbol that another object defines. In an object's path, the part before
# its room is the build directory; an object without a room belongs to none of the three.
nm --print-file-name --format=posix "$@" | awk '
    {
        object = substr($1, 1, length($1) - 1)
        if (!match(object, /(^|\/)(noise|config|server)\//))
            next
        file = substr(object, RSTART)
        sub(/^\//, "", file)
        sub(/o$/, "c", file)
        if ($3 == "U" || $3 == "w")
            used[file " " $2] = 1
        else if ($3 ~ /[A-Z]/)
            defined[$2] = file
    }
    END {
        for (use in used) {
            split(use, parts, " ")
            if (parts[2] in defined)
                print parts[1], "uses", defined[parts[2]], parts[2]
        }
    }' | sort >"$scratch/uses"

for edges in includes uses; do
    [ "$(wc -l <"$scratch/$edges")" -gt 100 ] || { echo "room-order: no $edges found"; exit 1; }
done

awk -v order="${order[*]}" '
    function room(path, parts, count) {
        count = split(path, parts, "/")
        return count < 3 ? parts[1] : parts[1] "/" parts[2]
    }
    BEGIN {
        count = split(order, rooms, " ")
        for (i = 1; i <= count; i++)
            rank[rooms[i]] = i
    }
    {
        from = room($1)
        to = room($3)
        if (!(from in rank) || !(to in rank)) {
            print $1 ": " $2 " " $3 ": not in a room of the order: " order
            failed = 1
        } else if (rank[to] > rank[from]) {
            print $1 ": " $2 " " ($4 ? $4 " of " : "") $3 ", but " to "/ comes after " from "/"
            failed = 1
        }
    }
    END { exit failed }' "$scratch/includes" "$scratch/uses"

# tsort names a circle's members on standard error.
circles=$(cut -d ' ' -f 1,3 "$scratch/includes" | tsort 2>&1 >/dev/null) ||
    { echo "room-order: files include each other:" "${circles//tsort:/}"; exit 1; }
