#!/bin/bash
# Builds and tests the committed files on another Debian release, in a scratch directory: all C files compile without a
# warning from its gcc, and units and http pass. With "clang", all files compile without a warning from its clang; with
# "packages", the packages pass. Only the viewer's packages from npm are copied.
#
#   tests/proofs/other-debian.sh [--working-tree] 12|13 [clang|packages]
#       or `make check-debian-13`, `make check-debian-13-clang` and `make check-package-13`, which fetch these packages
#
# Takes HEAD, or with --working-tree the working tree's files. Needs root. Debian with the packages for a build is kept in
# build/debian for a month, because installing them takes two minutes. Logs are in build/other-debian.
# Exit: 0 passed, 1 failed, 2 could not try.
set -euo pipefail
# shellcheck source=tests/proofs/debian_chroot.sh
. "$(dirname "$0")/debian_chroot.sh"
viewer=server/viewer/node_modules

# All failing rows, which may be anywhere in the log.
show() {
    awk -f "$repository/tests/failing_rows.awk" "$1"
    tail -n 20 "$1"
    echo "(all of it: $1)"
}

# suite NAME SECONDS TARGET...: make TARGET there. A failure is counted and does not end the run. The summaries are for
# tests/steps.sh, which counts tests by them.
suite() {
    local log
    (step "$1" "$2" "${machine[@]}" make --no-print-directory CI=true PATIENCE=$((3 * ${PATIENCE:-1})) "${@:3}") ||
        failed+=("$1")
    log=$repository/build/$logs/debian-$debian-${1// /-}.log
    awk '
        /^# (pass|fail|cancelled|skipped) [0-9]+$/ || /^ *ok .* # SKIP/
        sub(/.*%: Checks: /, "") {
            split($0, numbers, /[^0-9]+/)
            for (i = 1; i <= 3; i++)
                sum[i] += numbers[i]
        }
        END {
            if (sum[1])
                printf "%d%%: Checks: %d, Failures: %d, Errors: %d\n", 100 - 100 * (sum[2] + sum[3]) / sum[1], sum[1], sum[2], sum[3]
        }' "$log"
}

# Packages that make itself does not install.
install_tools() {
    # A scratch machine need not survive a power cut.
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/scratch"
    step "apt-get install make" 300 "${machine[@]}" apt-get install -qy --no-install-recommends make
    mkdir -p "$tree/$viewer"
    cp -a "$repository/$viewer/." "$tree/$viewer"
    touch "$tree/$viewer/.installed"
}

usage="usage: $0 [--working-tree] 12|13 [clang|packages]"
working_tree=0
release=
subject=suites
for argument in "$@"; do
    case $argument in
    --working-tree) working_tree=1 ;;
    12 | 13) release=$argument ;;
    clang | packages) subject=$argument ;;
    *) unable "$usage" ;;
    esac
done
[ -n "$release" ] || unable "$usage"
[ -e "$repository/$viewer/.installed" ] || unable "no packages from npm: make $viewer/.installed"
isolate "$@"
need git git

failed=()
logs=other-debian
[ "$subject" = suites ] || logs=other-debian/$subject
choose_debian "$release"
kept=$repository/build/debian/$codename-compiled.tar
[ "$subject" = packages ] || ! is_kept "$kept" || base=$kept
make_machine
lay_tree "$working_tree"
install_tools
if [ "$subject" = packages ]; then
    suite packages 1800 check-package
else
    step "make compiled-deps" 900 "${machine[@]}" make --no-print-directory compiled-deps
    [ -n "${base:-}" ] || keep_base "$root" "$kept"
fi
if [ "$subject" = clang ]; then
    suite "warnings of clang" 1500 "-j$(nproc)" CC=clang CFLAGS=-O1 lint-warnings lib
elif [ "$subject" = suites ]; then
    suite "warnings of gcc" 1500 --keep-going "-j$(nproc)" check-compiled
    suite units 1500 check-units
    suite http 1500 NODE_REPORTER=--test-reporter=tap check-http
fi
[ ${#failed[@]} -eq 0 ] || fail "${failed[*]}"
echo "PASS: Debian $debian builds and tests it; $SECONDS s, $(du -shx "$root" | cut -f1)"
