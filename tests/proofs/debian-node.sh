#!/usr/bin/env bash
# Prints the path of a Node with this Debian's version, 18 on Debian 12 and 20 on 13: this machine's own if the version
# fits, else Debian's packages unpacked (not installed) in build/debian-node, for root. Exit: 2 if there are no packages.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=/dev/null
case $(. /etc/os-release && echo "${VERSION_ID:-}") in
13) major=20 library=libnode115 others="node-minimatch libcares2 libnghttp2-14 libicu76 libuv1t64 libssl3t64" ;;
*) major=18 library=libnode108 others="libc-ares2 libnghttp2-14 libicu72 libuv1 libssl3" ;;
esac

unable() {
    echo "${0##*/}: $*" >&2
    exit 2
}

# The newest version of package $1 that begins with $2.
version_of() {
    apt-cache madison "$1" | awk -F ' *[|] *' -v prefix="$2" 'index($2, prefix) == 1 { print $2; exit }'
}

is_wanted() {
    [[ $("$1" --print process.version 2>/dev/null) == v$major.* ]]
}

if is_wanted node; then
    command -v node
    exit
fi
directory=$PWD/build/debian-node
node=$directory/node
if ! is_wanted "$node"; then
    version=$(version_of nodejs $major.)
    [ -n "$version" ] || unable "apt has no nodejs $major (apt-get update?)"
    rm -rf "$directory"
    mkdir -p "$directory/packages"
    packages=("nodejs=$version" "$library=$(version_of $library $major.)")
    # Its missing dependencies only, because the tests' other programs keep the installed libraries.
    for name in node-acorn node-cjs-module-lexer node-undici libbrotli1 $others; do
        dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || packages+=("$name")
    done
    (cd "$directory/packages" && apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}") >&2 ||
        unable "apt-get download ${packages[*]}"
    for file in "$directory"/packages/*.deb; do
        dpkg-deb --extract "$file" "$directory/root"
    done
    # Debian's Node reads a part of itself from /usr/share/nodejs, so it runs in a mount namespace that has it there.
    cat >"$node" <<END
#!/bin/sh
exec unshare --mount sh -c 'mount -t overlay -o lowerdir=$directory/root/usr/share:/usr/share overlay /usr/share &&
    LD_LIBRARY_PATH=$(dirname "$(find "$directory/root" -name 'libnode.so.*' -type f)") exec $directory/root/usr/bin/node "\$@"' node "\$@"
END
    chmod +x "$node"
    is_wanted "$node" || unable "$node does not run"
fi
echo "$node"
