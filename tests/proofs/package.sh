#!/bin/bash
# Tests the Debian packages in build/deb: lintian is silent, the service is locked down, and
# the packages install, serve, upgrade, and are removed and purged. They are installed in a
# scratch root: an overlay of this machine's files that keeps all writes in memory.
#
#   tests/proofs/package.sh      or `make check-package`, which builds the packages first
#
# Needs root, but neither a network nor a running systemd: the script itself does what the
# unit says. strace shows whether the daemon stays within the unit's system calls.
# Exit: 0 they work, 1 they do not, 2 could not try.
set -euo pipefail
# shellcheck source=tests/proofs/debian_chroot.sh
. "$(dirname "$0")/debian_chroot.sh"
deb=$repository/build/deb
tile=/default/relief/8/128/128.png
# The highest exposure that `systemd-analyze security` may report for the service, in tenths.
exposure_max=12

one_deb() {
    local found=("$deb"/"$1"_*.deb)
    [[ -e ${found[0]} && ${#found[@]} -eq 1 ]] || unable "not one $1 in build/deb: make deb"
    echo "${found[0]}"
}

check_lint() {
    local said
    said=$(lintian --fail-on error,warning "$deb"/*.changes 2>"$scratch/lintian.err") ||
        fail "lintian: $said $(cat "$scratch/lintian.err")"
    [ -z "$said" ] || fail "lintian: $said"
    passed "lintian has nothing to say"
}

# An overlay of the machine's files; writes go to memory. Without its /run, /proc and /dev.
make_root() {
    local layers=$scratch/layers
    root=$scratch/root
    mkdir "$layers" "$root"
    mount -t tmpfs tmpfs "$layers"
    mkdir "$layers/upper" "$layers/work"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$layers/upper,workdir=$layers/work" "$root" ||
        unable "no overlay of / can be mounted here"
    mount -t proc proc "$root/proc"
    mount -t tmpfs tmpfs "$root/run"
    mount -t tmpfs tmpfs "$root/tmp"
    mount --bind /dev "$root/dev"
    mkdir "$root/tmp/deb"
    cp "$deb"/*.deb "$root/tmp/deb"
    # A network namespace with a loopback interface alone: port 8080 is free.
    machine=(unshare --net chroot "$root" env --ignore-environment --chdir=/
        PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
    "${machine[@]}" dpkg --purge farlands >/dev/null 2>&1 || :
    passed "scratch root"
}

# dpkg in the overlay has this machine's package database, so it finds the libraries.
install_packages() {
    step "$1" 120 "${machine[@]}" dpkg --install "${@:2}"
}

unit_value() {
    sed -n "s/^$1=//p" "$unit"
}

check_unit() {
    local exposure
    unit=$root/lib/systemd/system/farlands.service
    "${machine[@]}" systemd-analyze verify --man=no farlands.service farlands.socket >"$scratch/verify" 2>&1 ||
        fail "systemd-analyze verify: $(cat "$scratch/verify")"
    ! grep -q farlands "$scratch/verify" || fail "systemd-analyze verify: $(cat "$scratch/verify")"
    exposure=$(systemd-analyze security --offline=yes --no-pager "$unit" |
        sed -n 's/.*exposure level for farlands\.service: \([0-9]*\)\.\([0-9]\).*/\1\2/p')
    [ "$((10#$exposure))" -le "$exposure_max" ] ||
        fail "systemd-analyze security: ${exposure:0:-1}.${exposure: -1}; the most is in ${0##*/}"
    passed "the service's exposure" "${exposure:0:-1}.${exposure: -1} of 10"
}

check_files() {
    local file
    "${machine[@]}" getent passwd farlands >"$scratch/user" || fail "no user farlands"
    [ "$(cut -d: -f7 "$scratch/user")" = /usr/sbin/nologin ] || fail "the user can log in: $(cat "$scratch/user")"
    [ "$("${machine[@]}" stat -c '%U:%G %a' /var/cache/farlands)" = "farlands:farlands 755" ] ||
        fail "/var/cache/farlands: $("${machine[@]}" stat -c '%U:%G %a' /var/cache/farlands)"
    for file in usr/share/man/man1/farlands.1.gz usr/share/man/man5/farlands.yaml.5.gz \
        usr/share/bash-completion/completions/farlands usr/share/farlands/worlds/ridges.yaml; do
        [ -s "$root/$file" ] || fail "no /$file"
    done
    # Every file that operating.md names. Only the repository has Dockerfile and Compose files.
    zcat -f "$root"/usr/share/doc/farlands/operating.md* >"$scratch/operating"
    grep -oE '/usr/share/farlands/[A-Za-z0-9_./-]*[A-Za-z0-9_]' "$scratch/operating" | sort -u >"$scratch/named"
    [ "$(wc -l <"$scratch/named")" -ge 12 ] || fail "operating.md names only $(cat "$scratch/named")"
    while IFS= read -r file; do
        [ -e "$root$file" ] || fail "operating.md names $file"
    done <"$scratch/named"
    ! grep -oE '\bdocker/(haproxy|nginx|caddy|varnish|prometheus|grafana|kubernetes)[^ ]*' "$scratch/operating" ||
        fail "operating.md names files of the repository"
    [ -L "$root/etc/systemd/system/multi-user.target.wants/farlands.service" ] || fail "not enabled"
    [ ! -e "$root/etc/systemd/system/sockets.target.wants/farlands.socket" ] || fail "the socket is enabled"
    for file in /etc/farlands/farlands.yaml /etc/logrotate.d/farlands; do
        grep -qx "$file" "$root/var/lib/dpkg/info/farlands.conffiles" || fail "$file is no conffile"
    done
    [ "$("${machine[@]}" farlands --version)" = "farlands $version" ] || fail "$("${machine[@]}" farlands --version)"
    "${machine[@]}" farlands check-config /etc/farlands/farlands.yaml >/dev/null || fail "check-config"
    "$repository/tests/proofs/hardening.sh" "$root"/usr/bin/farlands "$root"/usr/lib/*/libfarlands.so.0 >/dev/null ||
        fail "$("$repository/tests/proofs/hardening.sh" "$root"/usr/bin/farlands "$root"/usr/lib/*/libfarlands.so.0)"
    passed "user, files, conffile, unit enabled"
}

# serve [TRACER...]: run the unit's command as its user, without capabilities, in a network namespace.
serve() {
    local command
    read -ra command <<<"$(unit_value ExecStart)"
    log=$(log_of "${1:+traced }serve")
    unshare --net bash -c 'ip link set lo up && exec "$@"' bash "$@" chroot "$root" \
        setpriv --reuid=farlands --regid=farlands --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
        env --ignore-environment --chdir=/ PATH=/usr/bin:/bin CACHE_DIRECTORY=/var/cache/farlands \
        "${command[@]}" >"$log" 2>&1 &
    running=$!
    until_true 30 is_ready || :
    grep -q '^farlands: serving ' "$log" || { show "$log"; fail "not serving"; }
    pid=$(pid_of "*/usr/bin/farlands") || fail "no process runs farlands"
    [ "$(stat -c %u "/proc/$pid")" = "$("${machine[@]}" id -u farlands)" ] || fail "it does not run as farlands"
}

is_ready() {
    grep -q '^farlands: serving ' "$log" || is_gone "$running"
}

fetch() {
    nsenter --net="/proc/$pid/ns/net" curl --silent --show-error --fail --noproxy '*' --max-time 60 \
        --output "$scratch/answer" "http://127.0.0.1:8080$1" || fail "GET $1"
}

stop() {
    local status=0
    kill -TERM "$pid"
    until_true 40 is_gone "$running" || fail "still running 40 s after SIGTERM"
    wait "$running" || status=$?
    [ "$status" -eq 0 ] || { show "$log"; fail "exit $status after SIGTERM"; }
}

# Do one of each thing that a daemon does, so that strace sees its system calls.
exercise() {
    local place='x=0&y=0'
    fetch /default/terrarium/9/1/1.png
    fetch /default/terrarium/9/1/1.png
    fetch "/default/height?$place"
    fetch "/default/spawn?$place&min=1&max=500"
    fetch "/default/region.f32?$place&width=1025&height=1025"
    fetch "/default/volume.f32?$place&z=0&width=17&height=17&depth=17"
    fetch /metrics
    fetch /
    kill -HUP "$pid"
    until_true 10 grep -q 'configuration reloaded' "$log" || fail "SIGHUP: no configuration was reloaded"
    fetch /default:42/relief/3/4/4.png
}

# calls_of GROUP: print the system calls in a group, nested groups included.
calls_of() {
    local name
    for name in $(systemd-analyze syscall-filter --no-pager "$1" | grep -v '#' | tail -n +2); do
        case $name in
        @*) calls_of "$name" ;;
        *) echo "$name" ;;
        esac
    done | sort -u
}

# Apply the unit's lines in order, as systemd does.
allowed_calls() {
    local line item
    : >"$scratch/allowed"
    while read -ra line; do
        for item in "${line[@]#\~}"; do
            case $item in
            @*) calls_of "$item" ;;
            *) echo "$item" ;;
            esac
        done | sort -u >"$scratch/line"
        case ${line[0]} in
        '~'*) comm -23 "$scratch/allowed" "$scratch/line" ;;
        *) sort -u "$scratch/allowed" "$scratch/line" ;;
        esac >"$scratch/next"
        mv "$scratch/next" "$scratch/allowed"
    done < <(unit_value SystemCallFilter)
}

check_calls() {
    local beyond
    # Only from the daemon's start on, without setpriv's calls.
    serve strace --follow-forks --quiet=all --output="$scratch/trace"
    exercise
    stop
    allowed_calls
    sed -n '\,execve("/usr/bin/farlands",,$ { s/^[0-9]* *\([a-z0-9_]*\)(.*/\1/p }' "$scratch/trace" | sort -u >"$scratch/used"
    [ "$(wc -l <"$scratch/used")" -gt 30 ] || fail "strace saw $(wc -l <"$scratch/used") system calls"
    beyond=$(comm -23 "$scratch/used" "$scratch/allowed" | tr '\n' ' ')
    [ -z "$beyond" ] || fail "the daemon makes system calls that the unit forbids: $beyond"
    beyond=$(grep -oE 'socket\(AF_[A-Z0-9]+' "$scratch/trace" | sort -u | sed 's/socket(//' |
        grep -vxF "$(unit_value RestrictAddressFamilies | tr ' ' '\n')" || :)
    [ -z "$beyond" ] || fail "the daemon opens sockets that the unit forbids: $beyond"
    ! grep -E 'PROT_WRITE\|PROT_EXEC' "$scratch/trace" || fail "the daemon maps memory that is writable and executable"
    passed "$(wc -l <"$scratch/used") system calls" "all within the unit's"
}

check_service() {
    serve
    fetch "$tile"
    is_tile "$scratch/answer" || fail "$tile is no PNG of 256x256"
    cp "$scratch/answer" "$scratch/tile.png"
    stop
    [ -n "$(find "$root/var/cache/farlands" -name 128.png -user "$("${machine[@]}" id -u farlands)")" ] ||
        fail "the cache does not hold the tile"
    "${machine[@]}" setpriv --reuid=farlands --regid=farlands --clear-groups farlands render \
        --config /etc/farlands/farlands.yaml --world default --layer gray --zoom 0-1 >"$scratch/render" 2>&1 ||
        fail "farlands render as the service's user: $(cat "$scratch/render")"
    passed "serves, stops, keeps the tile" "$(stat -c %s "$scratch/tile.png") bytes"
}

check_upgrade() {
    local tree=$scratch/next
    dpkg-deb --raw-extract "$(one_deb farlands)" "$tree"
    sed -i "s/^Version: .*/Version: $version+next/" "$tree/DEBIAN/control"
    dpkg-deb --root-owner-group --build "$tree" "$root/tmp/next.deb" >/dev/null
    echo "# an operator's" >>"$root/etc/farlands/farlands.yaml"
    install_packages "dpkg --install of the next version" /tmp/next.deb
    # shellcheck disable=SC2016 # dpkg-query's
    [ "$("${machine[@]}" dpkg-query -W -f '${Version}' farlands)" = "$version+next" ] || fail "not upgraded"
    grep -q "^# an operator's" "$root/etc/farlands/farlands.yaml" || fail "the upgrade lost the edited conffile"
    serve
    fetch "$tile"
    cmp "$scratch/answer" "$scratch/tile.png" || fail "the tile differs after the upgrade"
    fetch /metrics
    grep -q '^farlands_cache_hits_total{tier="disk"} 1$' "$scratch/answer" || fail "the tile was not read from the disk cache"
    stop
    passed "an upgrade keeps cache and configuration"
}

# Another program builds with the header and libraries that the package installs.
check_development() {
    # shellcheck disable=SC2016 # there
    "${machine[@]}" sh -euc 'cd /tmp
        unset PKG_CONFIG_PATH
        examples=/usr/share/doc/libfarlands-dev/examples
        case $(pkg-config --variable=libdir farlands) in /usr/lib/*) ;; *) exit 3 ;; esac
        [ "$(pkg-config --modversion farlands)" = "$1" ]
        for name in heights world; do
            gcc $examples/$name.c -o $name $(pkg-config --cflags --libs farlands)
            gcc -static-pie $examples/$name.c -o $name-static $(pkg-config --static --cflags --libs farlands)
        done
        ./heights 0 0 >shared && ./heights-static 0 0 >static && cmp shared static
        ./world /usr/share/farlands/farlands.yaml default 0 0 | grep -q "[0-9]"' sh "$version" \
        >"$scratch/compile" 2>&1 || fail "libfarlands-dev: $(cat "$scratch/compile")"
    passed "programs build with libfarlands-dev"
}

check_removal() {
    step "dpkg --remove" 60 "${machine[@]}" dpkg --remove farlands
    [ ! -e "$root/usr/bin/farlands" ] || fail "removed, but /usr/bin/farlands remains"
    [ -e "$root/etc/farlands/farlands.yaml" ] || fail "removal deleted the configuration"
    [ -e "$root/var/cache/farlands" ] || fail "removal deleted the cache"
    step "dpkg --purge" 60 "${machine[@]}" dpkg --purge farlands libfarlands-dev libfarlands0
    local left
    left=$(find "$root"/{etc,lib,usr,var} -xdev -iname '*farlands*' \
        -newer "$scratch/user" ! -path '*/var/log/*' ! -path '*/dpkg/*' 2>/dev/null || :)
    [ ! -e "$root/var/cache/farlands" ] || fail "purged, but the cache remains"
    [ ! -e "$root/etc/farlands" ] || fail "purged, but /etc/farlands remains"
    [ -z "$left" ] || fail "purged, but these files remain: $left"
    passed "removal keeps what purging deletes"
}

[ $# -eq 0 ] || unable "usage: $0"
version=$(dpkg-deb --field "$(one_deb farlands)" Version)
isolate "$@"
need lintian lintian
need systemd-analyze systemd
need strace strace
need curl curl
need ip iproute2

check_lint
make_root
packages=()
for name in farlands libfarlands0 libfarlands-dev; do
    packages+=("/tmp/deb/$(basename "$(one_deb "$name")")")
done
install_packages "dpkg --install" "${packages[@]}"
check_unit
check_files
check_service
check_calls
check_upgrade
check_development
check_removal
echo "PASS: the packages install, serve, upgrade and go; $SECONDS s"
