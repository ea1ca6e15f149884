#!/bin/bash
# Proves of programs, shared libraries and objects that the compiler's defences are in them,
# as Makefile asks for: by what readelf says, flag by flag.
#
#   tests/proofs/hardening.sh FILE...    or `make check-hardening`, of what make builds
set -euo pipefail
wrong=0

complain() {
    echo "FAIL: ${0##*/}: $*"
    wrong=1
}

# has TEXT PATTERN: here-strings rather than pipes, whose reader's early end fails the writer.
has() {
    grep -qE -- "$2" <<<"$1"
}

# Where it is loaded, what is written to afterwards, and what may run.
check_layout() {
    local file=$1 headers dynamic
    headers=$(readelf --file-header --program-headers --wide "$file")
    dynamic=$(readelf --dynamic --wide "$file")
    has "$headers" 'Type: +DYN' || complain "$file: not -pie: loaded where everybody knows"
    has "$headers" 'GNU_RELRO' || complain "$file: not -z relro: its tables stay writable"
    has "$dynamic" '\(FLAGS\).*BIND_NOW' || complain "$file: not -z now: the table of functions stays writable"
    has "$headers" 'GNU_STACK .* RW +0x' || complain "$file: not -z noexecstack: the stack may run"
    ! has "$headers" 'LOAD .* RWE ' || complain "$file: a segment may be written to and run"
    ! has "$dynamic" '\((TEXTREL|RPATH|RUNPATH)\)' || complain "$file: $(grep -oE '(TEXTREL|RPATH|RUNPATH)' <<<"$dynamic")"
}

# What its code checks by itself.
check_code() {
    local file=$1 symbols
    symbols=$(readelf --dyn-syms --wide "$file")
    has "$symbols" ' UND __stack_chk_fail' || complain "$file: not -fstack-protector-strong"
    has "$symbols" ' UND __(mem|str|v?s?n?f?printf|read|fd)[a-z]*_chk' || complain "$file: not -D_FORTIFY_SOURCE"
    [ "$(uname -m)" != x86_64 ] || probes_pages "$file" || complain "$file: not -fstack-clash-protection"
}

# A large frame is made a page at a time, and each is touched.
probes_pages() {
    objdump --disassemble --no-show-raw-insn "$1" | awk '
        page && /[$]0x0,.*[(]%rsp[)]/ { found = 1 }
        { page = /sub +[$]0x1000,%rsp/ }
        END { exit !found }'
}

# Objects alone tell, for what the C library's start-up code lacks the program then lacks, too.
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
