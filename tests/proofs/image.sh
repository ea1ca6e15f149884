#!/bin/bash
# Builds docker/Dockerfile and runs the image, without a container engine or a registry:
# buildah builds in a chroot, on a Debian base bootstrapped here. The image runs twice:
# as it is, and locked down as in docker/compose.yaml. Uses the files of the working tree,
# except those in .dockerignore.
#
#   tests/proofs/image.sh
#
# Needs root. V=1 shows the output of all steps.
# Exit: 0 the image works, 1 it does not, 2 could not try.
set -euo pipefail
# shellcheck source=tests/proofs/debian_chroot.sh
. "$(dirname "$0")/debian_chroot.sh"

# Separate storage, so that the host's images are neither used nor changed. vfs copies
# layers instead of mounting an overlay, which works on every file system.
set_up_engine() {
    export BUILDAH_ISOLATION=chroot
    engine=(buildah --root "$scratch/storage" --runroot "$scratch/run" --storage-driver vfs)
}

# The image that the Dockerfile's FROM names.
make_base() {
    local container
    bootstrap "$scratch/base"
    # Like the official image: no package index and no apt cache, now or later.
    rm -rf "$scratch"/base/var/lib/apt/lists/* "$scratch"/base/var/cache/apt/archives/*.deb
    echo 'Dir::Cache { pkgcache ""; srcpkgcache ""; }; APT::Keep-Downloaded-Packages "false";' \
        >"$scratch/base/etc/apt/apt.conf.d/docker-clean"
    container=$("${engine[@]}" from scratch)
    "${engine[@]}" copy --quiet "$container" "$scratch/base" / >/dev/null
    "${engine[@]}" config --cmd bash "$container"
    "${engine[@]}" commit --quiet --rm "$container" "debian:$codename-slim" >/dev/null
    rm -rf --one-file-system "$scratch/base"
    passed "base image" "$(size_of "debian:$codename-slim")"
}

size_of() {
    "${engine[@]}" images --format '{{.Size}}' "$1"
}

# The host's settings are mounted for the build only, so the Dockerfile does not mention them.
build_image() {
    host_settings
    # Docker's format, because OCI's has no HEALTHCHECK.
    step "buildah bud" 1800 "${engine[@]}" bud --pull=never --format docker \
        --volume "$host/apt.conf:/etc/apt/apt.conf.d/90host:ro" \
        --volume "$host/npmrc:/etc/npmrc:ro" \
        --volume "$host/ca-certificates:/usr/local/share/ca-certificates:ro" \
        --file "$repository/docker/Dockerfile" --tag farlands "$repository"
    passed "image" "$(size_of localhost/farlands)"
}

# lines_of NAME TEMPLATE: read the image's metadata into the array NAME.
lines_of() {
    mapfile -t "$1" < <("${engine[@]}" inspect --type image --format "$2" localhost/farlands)
}

read_image() {
    local user=() # lines_of sets these three
    command=()
    health=()
    lines_of command '{{range .Docker.Config.Entrypoint}}{{println .}}{{end}}{{range .Docker.Config.Cmd}}{{println .}}{{end}}'
    lines_of health '{{range .Docker.Config.Healthcheck.Test}}{{println .}}{{end}}'
    lines_of user '{{.Docker.Config.User}}'
    [ "${health[0]:-}" = CMD ] || fail "the HEALTHCHECK is not of the form CMD [...]"
    health=("${health[@]:1}")
    [[ ${user[0]} =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || fail "USER is '${user[0]}', not UID:GID above 0"
    uid=${user[0]%:*}
    gid=${user[0]#*:}
    # buildah allows 1024 open files by default; container engines use the host's limit.
    container=$("${engine[@]}" from --pull=never "--ulimit=nofile=$(ulimit -Hn):$(ulimit -Hn)" \
        localhost/farlands)
    root=$("${engine[@]}" mount "$container")
}

# A network namespace for the containers, with a loopback interface alone, so that the
# image's port is free.
make_network() {
    unshare --net sleep infinity &
    network=(nsenter "--net=/proc/$!/ns/net")
    until_true 5 has_own_network "$!" || fail "no network namespace"
    "${network[@]}" ip link set lo up
}

has_own_network() {
    [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

as_is() {
    runner=("${network[@]}" "${engine[@]}" run "$container" --)
}

# read_only, tmpfs, volumes, cap_drop and security_opt of compose.yaml. A named volume
# starts as a copy of the directory that it covers.
locked_down() {
    local locked=$scratch/locked
    volume=$scratch/volume
    cp -a "$root/var/cache/farlands" "$volume"
    mkdir "$locked"
    mount --bind "$root" "$locked"
    mount -o remount,bind,ro "$locked"
    mount -t proc proc "$locked/proc"
    mount -t tmpfs tmpfs "$locked/tmp"
    mount --bind "$volume" "$locked/var/cache/farlands"
    runner=("${network[@]}" chroot "$locked" setpriv "--reuid=$uid" "--regid=$gid"
        --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs
        env --ignore-environment PATH=/usr/local/bin:/usr/bin:/bin)
    ! touch "$locked/etc/passwd" 2>/dev/null || fail "locked-down: the root is not read-only"
}

fetch() {
    "${network[@]}" curl --silent --show-error --fail --noproxy '*' --max-time 60 \
        --output "$scratch/answer" "http://127.0.0.1:8080$1" || fail "$way: GET $1"
}

is_ready() {
    grep -q '^farlands: serving ' "$log" || ! kill -0 "$running" 2>/dev/null
}

# run WAY: start the image through $runner and test everything it must do.
run() {
    local status=0 pid
    way=$1
    log=$(log_of "$way")
    "${runner[@]}" "${command[@]}" >"$log" 2>&1 &
    running=$!
    until_true 30 is_ready || :
    if ! grep -q '^farlands: serving ' "$log"; then
        show "$log"
        fail "$way: ${command[*]}: not serving"
    fi
    passed "$way: serves" "${command[*]}"

    fetch /healthz
    fetch /default/relief/8/128/128.png
    is_tile "$scratch/answer" || fail "$way: /default/relief/8/128/128.png is no PNG of 256x256"
    passed "$way: a tile" "$(stat -c %s "$scratch/answer") bytes"

    "${runner[@]}" "${health[@]}" || fail "$way: HEALTHCHECK: exit $?"
    passed "$way: HEALTHCHECK says healthy"

    pid=$(pid_of "*/usr/bin/farlands") || fail "$way: no process runs farlands"
    [ "$(awk '$1 == "Uid:" { print $2, $3, $4, $5 }' "/proc/$pid/status")" = "$uid $uid $uid $uid" ] ||
        fail "$way: it does not run as $uid"
    passed "$way: runs as uid $uid" "$(grep CapEff "/proc/$pid/status" | tr '\t' ' ')"

    kill -TERM "$pid"
    until_true 30 is_gone "$running" || fail "$way: still running 30 s after SIGTERM"
    wait "$running" || status=$?
    if [ "$status" -ne 0 ]; then
        show "$log"
        fail "$way: exit $status after SIGTERM"
    fi
    passed "$way: SIGTERM ends it, exit 0"

    ! "${runner[@]}" "${health[@]}" 2>/dev/null || fail "$way: HEALTHCHECK passes although the daemon has ended"
    passed "$way: HEALTHCHECK says dead"
}

[ $# -eq 0 ] || unable "usage: $0"
isolate "$@"
need buildah buildah
need curl curl
need ip iproute2

choose_debian 13
set_up_engine
make_base
build_image
read_image
make_network
as_is
run image
locked_down
run locked-down
[ -n "$(find "$volume" -name '*.png' -print -quit)" ] || fail "locked-down: no tile in the cache volume"
passed "locked-down: the cache volume keeps tiles" "$(du -shx "$volume" | cut -f1)"
echo "PASS: docker/Dockerfile builds and its image serves; $SECONDS s"
