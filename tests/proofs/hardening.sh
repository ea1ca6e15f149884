#!/bin/bash
# Checks by readelf that programs, shared libraries and objects have the hardening that the
# Makefile asks for, flag by flag.
#
#   tests/proofs/hardening.sh FILE...    or `make check-hardening`, for all that make builds
set -euo pipefail
wrong=0

complain() {
    echo "FAIL: ${0##*/}: $*"
    wrong=1
}

# has TEXT PATTERN: a here-string, because grep -q would end a pipe early and fail the writer.
has() {
    grep -qE -- "$2" <<<"$1"
}

# Load address, memory that stays writable, and memory that may be executed.
check_layout() {
    local file=$1 headers dynamic
    headers=$(readelf --file-header --program-headers --wide "$file")
    dynamic=$(readelf --dynamic --wide "$file")
    has "$headers" 'Type: +DYN' || complain "$file: not -pie: loaded at a known address"
    has "$headers" 'GNU_RELRO' || complain "$file: not -z relro: its tables stay writable"
    has "$dynamic" '\(FLAGS\).*BIND_NOW' || complain "$file: not -z now: the table of functions stays writable"
    has "$headers" 'GNU_STACK .* RW +0x' || complain "$file: not -z noexecstack: the stack is executable"
    ! has "$headers" 'LOAD .* RWE ' || complain "$file: a segment is writable and executable"
    ! has "$dynamic" '\((TEXTREL|RPATH|RUNPATH)\)' || complain "$file: $(grep -oE '(TEXTREL|RPATH|RUNPATH)' <<<"$dynamic")"
}

# Checks that the compiler adds to the code.
check_code() {
    local file=$1 symbols
    symbols=$(readelf --dyn-syms --wide "$file")
    has "$symbols" ' UND __stack_chk_fail' || complain "$file: not -fstack-protector-strong"
    has "$symbols" ' UND __(mem|str|v?s?n?f?printf|read|fd)[a-z]*_chk' || complain "$file: not -D_FORTIFY_SOURCE"
    [ "$(uname -m)" != x86_64 ] || probes_pages "$file" || complain "$file: not -fstack-clash-protection"
}

# Large stack frames grow page by page, and each page is touched.
probes_pages() {
    objdump --disassemble --no-show-raw-insn "$1" | awk '
        page && /[$]0x0,.*[(]%rsp[)]/ { found = 1 }
        { page = /sub +[$]0x1000,%rsp/ }
        END { exit !found }'
}

# Only objects show these: a program lacks them if the C library's start-up code does.
check_object() {
    local notes
    notes=$(readelf --notes --wide "$1")
    case "$(readelf --file-header "$1" | sed -n 's/^ *Machine: *//p')" in
    *X86-64) has "$notes" 'IBT, SHSTK' || complain "$1: not -fcf-protection" ;;
    AArch64) has "$notes" 'BTI, PAC' || complain "$1: not -mbranch-protection=standard" ;;
    esac
}

[ $# -gt 0 ] || { echo "usage: $0 FILE..." >&2; exit 2; }
for file in "$@"; do
    case $file in
    *.o) check_object "$file" ;;
    *) check_layout "$file" && check_code "$file" ;;
    esac
done
[ "$wrong" -ne 0 ] || echo "hardened: $# files"
exit "$wrong"
