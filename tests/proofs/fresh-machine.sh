#!/bin/bash
# Checks the README's promise: on a Debian 12 with nothing but make, `make run` serves tiles
# and `make check` passes. Bootstraps that machine in a scratch directory.
#
#   tests/proofs/fresh-machine.sh [--working-tree]
#
# Uses HEAD, or with --working-tree the files of the working tree. Needs root.
# V=1 shows the output of all steps. Exit: 0 both work, 1 one fails, 2 could not try.
set -euo pipefail
# shellcheck source=tests/proofs/debian_chroot.sh
. "$(dirname "$0")/debian_chroot.sh"

make_machine() {
    root=$scratch/machine
    bookworm "$root"
    host_settings
    cp "$host/apt.conf" "$root/etc/apt/apt.conf.d/90host"
    cp "$host/npmrc" "$root/etc/npmrc"
    cp -r "$host/ca-certificates" "$root/usr/local/share/"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    mount -t proc proc "$root/proc"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    mount -t tmpfs tmpfs "$root/dev/shm" # Chromium's frames

    # A clone's place and a login's environment instead of the caller's.
    tree=$root/root/farlands
    mkdir "$tree"
    machine=(chroot "$root" env --ignore-environment --chdir=/root/farlands
        HOME=/root LANG=C.UTF-8
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
    local name
    for name in http_proxy https_proxy no_proxy; do
        [ -z "${!name:-}" ] || machine+=("$name=${!name}")
    done
}

lay_tree() {
    cd "$repository"
    if [ "$working_tree" = 1 ]; then
        git ls-files -z --cached --others --exclude-standard |
            while IFS= read -rd '' file; do
                [ ! -e "$file" ] || printf '%s\0' "$file" # deleted, but not committed
            done | tar --create --null --files-from=- | tar --extract --directory="$tree"
    else
        git archive HEAD | tar --extract --directory="$tree"
    fi
    passed "tree laid out" "$(find "$tree" -type f | wc -l) files"
}

is_ready() {
    address=$(sed -n 's|^farlands: serving \(http://[^/ ]*\).*|\1|p' "$log")
    [ -n "$address" ] || ! kill -0 "$make" 2>/dev/null
}

fetch() {
    curl --silent --show-error --fail --noproxy '*' --max-time 60 \
        --output "$scratch/answer" "$address$1" || fail "GET $1"
}

make_run() {
    local start=$SECONDS status=0 pid
    log=$(log_of "make run")
    "${machine[@]}" make run LISTEN=127.0.0.1:0 >"$log" 2>&1 &
    make=$!
    address=
    until_true 1200 is_ready || :
    if [ -z "$address" ]; then
        show "$log"
        fail "make run: not serving after $((SECONDS - start)) s"
    fi
    [ "${V:-0}" != 1 ] || cat "$log"
    passed "make run serves $address" "$((SECONDS - start)) s"

    fetch /healthz
    passed "GET /healthz"
    fetch /default/relief/8/128/128.png
    is_tile "$scratch/answer" || fail "/default/relief/8/128/128.png is no PNG of 256x256"
    passed "GET /default/relief/8/128/128.png" "$(stat -c %s "$scratch/answer") bytes"

    # Signal the daemon: a signal to make would hide the exit code.
    pid=$(pid_of "$tree/build/farlands") || fail "make run: no process runs build/farlands"
    kill -TERM "$pid"
    until_true 60 is_gone "$make" || fail "make run: still running 60 s after SIGTERM"
    wait "$make" || status=$?
    if [ "$status" -ne 0 ]; then
        show "$log"
        fail "make run: exit $status after SIGTERM"
    fi
    passed "SIGTERM ends it, exit 0"
}

working_tree=0
case "$*" in
    '') ;;
    --working-tree) working_tree=1 ;;
    *) unable "usage: $0 [--working-tree]" ;;
esac
isolate "$@"
need debootstrap debootstrap
need curl curl
need git git

make_machine
lay_tree
step "apt-get update" 300 "${machine[@]}" apt-get update -q
step "apt-get install make" 300 "${machine[@]}" apt-get install -qy --no-install-recommends make
make_run
step "make check" 2700 "${machine[@]}" make check
echo "PASS: a fresh Debian 12 builds, serves and tests it; $SECONDS s, $(du -shx "$root" | cut -f1)"
