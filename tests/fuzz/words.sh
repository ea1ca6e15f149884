#!/usr/bin/env bash
# Checks that the fuzz targets' dictionaries have every request word in the sources. The dictionaries for URLs and for
# requests need parameters, path words, layers and formats; those for requests also need headers.
set -euo pipefail
cd "$(dirname "$0")/../.."

# expanded FILE INCLUDED...: print the files' lines after preprocessing.
expanded() {
    "${CC:-gcc}" -E -I. -D_GNU_SOURCE "$1" | awk -v files="$*" '
        /^# [0-9]/ { gsub(/"/, "", $3); sub(/^\.\//, "", $3); kept = index(" " files " ", " " $3 " ") > 0; next }
        kept'
}

parameters() {
    expanded server/routing/route.c | grep -oE '\.name = "[a-z_]+"' | cut -d'"' -f2
}

# WMTS keys, in capitals.
wmts_keys() {
    sed -nE 's/^    \[[A-Z]+\] = "([a-z]+)",$/\1/p' server/routing/wmts_query.c | tr '[:lower:]' '[:upper:]'
}

# All words in quotes but parameters and their units. Messages have spaces, or capitals.
path_words() {
    expanded server/routing/route.c | sed -E 's/\.(name|unit) = "[a-z_]+"//g' |
        grep -oE '"[a-z0-9.@-]*[a-z0-9][a-z0-9.@-]*"' | tr -d '"'
}

layers() {
    expanded server/layers/layers.c server/layers/layers.def | grep -oE '\.name = "[a-z-]+"' | cut -d'"' -f2
}

formats() {
    expanded server/layers/layers.c | sed -nE 's|.*\{"([a-z0-9]+)", "[a-z]+/[a-z-]+"\}.*|\1|p'
}

headers() {
    sed -nE 's/.*HEADER\([a-z_]+, "([A-Za-z-]+)"\).*/\1/p' server/http/message.h
}

# missing DICTIONARY LEAST KIND: name the words that the function KIND prints and DICTIONARY lacks; expect LEAST or more.
missing() {
    local dictionary=tests/fuzz/$1.dict word words count=0
    words=$("$3" | sort -u)
    for word in $words; do
        count=$((count + 1))
        case $3 in
        parameters | wmts_keys) grep -qE "^\"([^\"]*[?&])?$word=" "$dictionary" ;;
        headers) grep -qiE "^\"$word: " "$dictionary" ;;
        *) grep -qwF -- "$word" "$dictionary" ;;
        esac || echo "$dictionary lacks \"$word\", one of the $3"
    done
    [ "$count" -ge "$2" ] || echo "$0 finds only $count $3 in the sources"
}

faults=$(
    for dictionary in route request computed; do
        missing "$dictionary" 20 parameters
        missing "$dictionary" 15 path_words
        missing "$dictionary" 11 wmts_keys
        missing "$dictionary" 12 layers
        missing "$dictionary" 5 formats
    done
    missing request 13 headers
    missing computed 13 headers
)
[ -z "$faults" ] || {
    printf '%s\n' "$faults" >&2
    exit 1
}
