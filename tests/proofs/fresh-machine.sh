#!/bin/bash
# Checks the README's promise: on a Debian 12 or 13 with nothing but make, `make run` serves tiles
# and `make check` passes. Bootstraps these machines in a scratch directory, one after the other.
#
#   tests/proofs/fresh-machine.sh [--working-tree] [12|13]
#
# A number or DEBIAN=NUMBER chooses one release alone. Uses HEAD, or with --working-tree the files of
# the working tree. Needs root. V=1 shows the output of all steps.
# Exit: 0 both work on each, 1 one fails, 2 could not try.
set -euo pipefail
# shellcheck source=tests/proofs/debian_chroot.sh
. "$(dirname "$0")/debian_chroot.sh"

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

usage="usage: $0 [--working-tree] [12|13]"
working_tree=0
releases=${DEBIAN:-12 13}
for argument in "$@"; do
    case $argument in
    --working-tree) working_tree=1 ;;
    12 | 13) releases=$argument ;;
    *) unable "$usage" ;;
    esac
done
isolate "$@"
need debootstrap debootstrap
need curl curl
need git git

for release in $releases; do
    start=$SECONDS
    choose_debian "$release"
    make_machine
    lay_tree "$working_tree"
    step "apt-get install make" 300 "${machine[@]}" apt-get install -qy --no-install-recommends make
    make_run
    step "make check" 2700 "${machine[@]}" make check
    passed "built, served and tested" "$((SECONDS - start)) s, $(du -shx "$root" | cut -f1)"
    remove_machine
done
debian=
echo "PASS: a fresh Debian ${releases// / and } builds, serves and tests it; $SECONDS s"
