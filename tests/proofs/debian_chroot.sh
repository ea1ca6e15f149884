# A bare Debian 12 or 13 in a scratch directory, with this machine's mirror, proxy and certificates,
# for fresh-machine.sh, image.sh, other-debian.sh and package.sh. Sourced, not run.
#
#   isolate "$@"               a scratch directory and namespaces
#   choose_debian 13           $debian and $codename; messages and logs name the release from then on
#   bootstrap DIR              installs that release in DIR
#   make_machine; lay_tree 0   or a machine with it and the committed files: "${machine[@]}" COMMAND runs there
# shellcheck shell=bash

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
debian=

# Exit 2: this machine cannot run the script. 1 means that it ran and failed.
unable() {
    echo "${0##*/}: $*" >&2
    exit 2
}

fail() {
    echo "FAIL: ${0##*/}: ${debian:+Debian $debian: }$*"
    exit 1
}

passed() {
    printf 'ok    %-48s %s\n' "${debian:+Debian $debian: }$1" "${2:-}"
}

# need PROGRAM PACKAGE: install PACKAGE if PROGRAM is missing.
need() {
    command -v "$1" >/dev/null && return
    command -v apt-get >/dev/null || unable "$1 is missing (Debian: package $2)"
    echo "installing $2"
    { apt-get update -q && apt-get install -qy --no-install-recommends "$2"; } >/dev/null ||
        unable "$1 is missing, and apt-get could not install $2"
}

# Start the script again as process 1 of new process and mount namespaces, with a
# directory $scratch; returns only there. The parent waits and cleans up: when the child
# ends, the kernel kills its processes and drops its mounts, so only plain files are left.
isolate() {
    if [ $$ -eq 1 ] && [ -n "${FARLANDS_SCRATCH:-}" ]; then
        scratch=$FARLANDS_SCRATCH
        return
    fi
    [ "$(id -u)" -eq 0 ] || unable "needs root, for chroot and mount"
    unshare --mount --pid --fork true 2>/dev/null ||
        unable "cannot make a mount namespace here (unshare; CAP_SYS_ADMIN)"

    scratch=$(realpath "$(mktemp -d "${TMPDIR:-/tmp}/farlands-$(basename "$0" .sh)-XXXXXX")")
    child=
    trap 'remove_scratch' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    FARLANDS_SCRATCH=$scratch unshare --mount --pid --fork --kill-child --mount-proc \
        bash "$0" "$@" &
    child=$!
    local status=0
    wait "$child" || status=$?
    child=
    exit "$status"
}

# Try several times, because killed processes may still be writing.
remove_scratch() {
    local try
    if [ -n "$child" ]; then
        { kill -KILL "$child" && wait "$child"; } 2>/dev/null || :
    fi
    for try in 1 2 3 4; do
        rm -rf --one-file-system "$scratch" 2>/dev/null && return
        sleep "$try"
    done
    echo "${0##*/}: could not remove $scratch" >&2
}

# show LOG: print its end, after a failure.
show() {
    tail -n 100 "$1"
    echo "(all of it: $1)"
}

# log_of NAME: print the path of that step's log, which stays in build/, in the script's own directory or $logs.
log_of() {
    local directory log
    directory=$repository/build/${logs:-$(basename "$0" .sh)}
    log=$directory/${debian:+debian-$debian-}${1//[ \/]/-}.log
    mkdir -p "$directory"
    : >"$log"
    echo "$log"
}

# step NAME SECONDS PROGRAM...: run PROGRAM within that time, log it, print the time taken.
# On failure show the log's end and exit; V=1 shows the whole log at once.
step() {
    local name=$1 limit=$2 log start=$SECONDS status=0
    shift 2
    log=$(log_of "$name")
    if [ "${V:-0}" = 1 ]; then
        timeout --kill-after=10 "$limit" "$@" 2>&1 | tee "$log" || status=$?
    else
        timeout --kill-after=10 "$limit" "$@" >"$log" 2>&1 || status=$?
        [ "$status" -eq 0 ] || show "$log"
    fi
    [ "$status" -ne 124 ] || fail "$name: not done within $limit s"
    [ "$status" -eq 0 ] || fail "$name: exit $status"
    passed "$name" "$((SECONDS - start)) s"
}

# until_true SECONDS COMMAND...: try twice a second, for that long at most.
until_true() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.5
    done
}

is_gone() {
    ! kill -0 "$1" 2>/dev/null
}

# A PNG's first 24 bytes: signature, IHDR, width, height.
is_tile() {
    [ "$(head -c 24 "$1" | od -An -v -tx1 | tr -d ' \n')" = \
        89504e470d0a1a0a0000000d494844520000010000000100 ]
}

# pid_of PATTERN: the process whose program's path matches. /proc shows only processes of
# this script.
pid_of() {
    local process
    for process in /proc/[0-9]*; do
        # shellcheck disable=SC2053 # a pattern
        if [[ $(readlink "$process/exe") == $1 ]]; then
            echo "${process#/proc/}"
            return
        fi
    done
    return 1
}

# choose_debian 12|13
choose_debian() {
    case $1 in
    12) codename=bookworm ;;
    13) codename=trixie ;;
    *) unable "unknown release of Debian: $1; expected 12 or 13" ;;
    esac
    debian=$1
}

# Lines for sources.list, the release itself first: the host's mirrors, with the chosen release
# in place of the host's. DEBIAN_MIRROR overrides.
debian_sources() {
    local id release
    if [ -n "${DEBIAN_MIRROR:-}" ]; then
        echo "deb $DEBIAN_MIRROR $codename main"
        return
    fi
    # shellcheck source=/dev/null
    id=$(. /etc/os-release && echo "$ID")
    # shellcheck source=/dev/null
    release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    [ "$id" = debian ] || return 0
    # shellcheck disable=SC2016 # the format's variables are apt-get's
    apt-get indextargets --no-release-info 'Created-By: Packages' \
        --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' |
        awk -v release="$release" -v codename="$codename" '
            $1 ~ /^https?:/ && $3 == "main" && $2 ~ "^" release "(-updates|-security)?$" {
                sub(release, codename, $2)
                print "deb", $1, $2, $3
            }' | sort -u -k 3,3
}

# This machine's network settings, as files under $host: additional certificates, apt's
# proxies, npm's registry. Each is empty or absent if the host has none.
host_settings() {
    local certificates=/usr/local/share/ca-certificates file
    host=$scratch/host
    mkdir -p "$host/ca-certificates"
    [ ! -d "$certificates" ] || cp -rL "$certificates/." "$host/ca-certificates/"

    # Not named .crt, so that update-ca-certificates ignores it.
    for file in /etc/ssl/certs/ca-certificates.crt "${NODE_EXTRA_CA_CERTS:-}" \
        "$(npm config get cafile 2>/dev/null || :)"; do
        [ ! -f "$file" ] || cat "$file" >>"$host/ca-certificates/bundle.pem"
    done

    apt-config dump |
        grep -E '^Acquire::(https?::(Proxy|Timeout)|Check-|Retries)' |
        grep -v 'Auto-\?Detect' >"$host/apt.conf" || :
    { npm config get registry proxy https-proxy noproxy strict-ssl 2>/dev/null || :; } |
        grep -E '=.' | grep -v '=null$' >"$host/npmrc" || :
    if [ -e "$host/ca-certificates/bundle.pem" ]; then
        echo "Acquire::https::CAInfo \"$certificates/bundle.pem\";" >>"$host/apt.conf"
        echo "cafile=$certificates/bundle.pem" >>"$host/npmrc"
    fi
}

# keep_base DIR FILE: pack the Debian in DIR, without the project's files, into FILE. FILE gets its name only when
# complete, because other scripts may run beside this one.
keep_base() {
    local new
    rm -f "$1"/var/cache/apt/archives/*.deb
    mkdir -p "${2%/*}"
    new=$(mktemp "$2.XXXXXX")
    if tar --create --numeric-owner --xattrs --one-file-system --exclude=./root/farlands \
        --directory="$1" --file="$new" .; then
        mv "$new" "$2"
    else
        rm -f "$new"
    fi
}

# is_kept FILE: true if FILE is there, and younger than a month.
is_kept() {
    [ -n "$(find "$1" -mtime -30 2>/dev/null)" ]
}

# bootstrap DIR: install the chosen release there, minimal, or unpack the file $base, if set. A copy is kept in build/
# for a month, because unpacking is quicker; apt-get in the new machine finds later changes.
bootstrap() {
    local root=$1 mirror kept=${base:-$repository/build/debian/$codename.tar}
    debian_sources >"$scratch/sources.list"
    mirror=$(awk -v codename="$codename" '$3 == codename { print $2; exit }' "$scratch/sources.list")
    [ -n "$mirror" ] ||
        unable "apt here has no Debian mirror; name one: DEBIAN_MIRROR=URI $0"
    if is_kept "$kept"; then
        mkdir "$root"
        step "unpack a kept base" 300 tar --extract --numeric-owner --xattrs --xattrs-include='*' \
            --directory="$root" --file="$kept"
    else
        need debootstrap debootstrap
        step "debootstrap" 900 debootstrap --variant=minbase --force-check-gpg \
            "$codename" "$root" "$mirror"
        keep_base "$root" "$kept"
    fi
    cp "$scratch/sources.list" "$root/etc/apt/sources.list"
}

# Bootstrap the chosen release in $root. "${machine[@]}" COMMAND runs there, in $tree, with a login's environment
# instead of the caller's.
make_machine() {
    local name
    root=$scratch/machine-$debian
    bootstrap "$root"
    host_settings
    cp "$host/apt.conf" "$root/etc/apt/apt.conf.d/90host"
    cp "$host/npmrc" "$root/etc/npmrc"
    cp -r "$host/ca-certificates" "$root/usr/local/share/"
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    # A mount point, without which programs there could not make mount namespaces.
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    mount -t tmpfs tmpfs "$root/dev/shm" # Chromium's frames

    tree=$root/root/farlands
    mkdir "$tree"
    machine=(chroot "$root" env --ignore-environment --chdir=/root/farlands
        HOME=/root LANG=C.UTF-8
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
    for name in http_proxy https_proxy no_proxy; do
        [ -z "${!name:-}" ] || machine+=("$name=${!name}")
    done
    step "apt-get update" 300 "${machine[@]}" apt-get update -q
    step "apt-get upgrade" 300 "${machine[@]}" apt-get dist-upgrade -qy --no-install-recommends
}

# lay_tree 0|1: copy HEAD's files there; 1: the working tree's.
lay_tree() {
    cd "$repository" || exit
    if [ "$1" = 1 ]; then
        git ls-files -z --cached --others --exclude-standard |
            while IFS= read -rd '' file; do
                [ ! -e "$file" ] || printf '%s\0' "$file" # deleted, but not committed
            done | tar --create --null --files-from=- | tar --extract --directory="$tree"
    else
        git archive HEAD | tar --extract --directory="$tree"
    fi
    passed "tree laid out" "$(find "$tree" -type f | wc -l) files"
}

# Remove the machine, to make another.
remove_machine() {
    umount --recursive --lazy "$root"
    rm -rf --one-file-system "$root"
}
