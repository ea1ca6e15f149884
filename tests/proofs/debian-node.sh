#!/usr/bin/env bash
# Prints the path of a Node 18, the version of Debian 12: this machine's own if it is one, else Debian's packages
# unpacked (not installed) in build/debian-node, for root. Exit: 2 if there are no such packages.
set -euo pipefail
cd "$(dirname "$0")/../.."

unable() {
    echo "${0##*/}: $*" >&2
    exit 2
}

# The newest version of package $1 that begins with $2.
version_of() {
    apt-cache madison "$1" | awk -F ' *[|] *' -v prefix="$2" 'index($2, prefix) == 1 { print $2; exit }'
}

is_node_18() {
    [[ $("$1" --print process.version 2>/dev/null) == v18.* ]]
}

if is_node_18 node; then
    command -v node
    exit
fi
directory=$PWD/build/debian-node
node=$directory/node
if ! is_node_18 "$node"; then
    version=$(version_of nodejs 18.)
    [ -n "$version" ] || unable "apt has no nodejs 18 (apt-get update?)"
    rm -rf "$directory"
    mkdir -p "$directory/packages"
    packages=("nodejs=$version" "libnode108=$(version_of libnode108 18.)")
    # What it depends on, as far as that is not installed: the tests' other programs keep the installed libraries.
    for name in node-acorn node-cjs-module-lexer node-undici libc-ares2 libnghttp2-14 libicu72 libuv1 libbrotli1 libssl3; do
        dpkg-query -W -f '${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || packages+=("$name")
    done
    (cd "$directory/packages" && apt-get -qq -o APT::Sandbox::User=root download "${packages[@]}") >&2 ||
        unable "apt-get download ${packages[*]}"
    for file in "$directory"/packages/*.deb; do
        dpkg-deb --extract "$file" "$directory/root"
    done
    # Debian's Node reads a part of itself from /usr/share/nodejs, which a mount namespace of its own gives it.
    cat >"$node" <<END
#!/bin/sh
exec unshare --mount sh -c 'mount -t overlay -o lowerdir=$directory/root/usr/share:/usr/share overlay /usr/share &&
    LD_LIBRARY_PATH=$(dirname "$(find "$directory/root" -name 'libnode.so.108')") exec $directory/root/usr/bin/node "\$@"' node "\$@"
END
    chmod +x "$node"
    is_node_18 "$node" || unable "$node does not run"
fi
echo "$node"
