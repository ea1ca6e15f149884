#!/bin/bash
# Creates a source tree that dpkg-buildpackage builds without a network: the repository's files, the viewer's
# packages from npm, and debian/, completed with values from the Makefile, LICENSE and node_modules.
#
#   prepare.sh DIRECTORY VERSION BUILD_PACKAGE...
set -euo pipefail
cd "$(dirname "$0")/../.."
directory=$1
version=$2
shift 2
viewer=server/viewer/node_modules

rm -rf "$directory"
mkdir -p "$directory"
tar --create --exclude=./build --exclude=./.git --exclude='./tests/*/node_modules' . |
    tar --extract --directory="$directory"
cp -r docker/debian "$directory/debian"
cd "$directory"
rm debian/*.in debian/prepare.sh

packages=$(printf '%s, ' "$@")
sed "s|@BUILD_PACKAGES@|${packages%, }|" docker/debian/control.in >debian/control
date=$(date --utc --rfc-email --date="@${SOURCE_DATE_EPOCH:-$(stat -c %Y CHANGELOG.md)}")
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-unstable}")
sed "s|@VERSION@|$version|; s|@CODENAME@|$codename|; s|@DATE@|$date|" docker/debian/changelog.in >debian/changelog

# licence FILE: format FILE as a field in debian/copyright; a dot stands for an empty line.
licence() {
    tr -d '\r' <"$1" | sed 's/[[:space:]]*$//; s/^$/./; s/^/ /'
}

# One paragraph per npm package with its own licence; if it has two, the shorter.
{
    cat docker/debian/copyright.in
    tail -n +5 LICENSE | licence /dev/stdin
    find "$viewer" -mindepth 2 -maxdepth 3 -iname 'LICEN[CS]E*' | sort | while IFS= read -r file; do
        ! grep -q 'Apache License' "$file" || continue
        name=${file#"$viewer/"}
        name=${name%/*}
        printf '\nFiles: %s/%s/*\n' "$viewer" "$name"
        printf 'Copyright: %s\n' "$(tr -d '\r' <"$file" | grep -m 1 -iE 'copyright.*[0-9]{4}' || echo "its authors")"
        printf 'License: %s\n' "$(tr -d @ <<<"${name//\//-}")"
        licence "$file"
    done
} >debian/copyright
