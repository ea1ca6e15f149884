# Prints a log's failing rows. For TAP: each test that is not ok, with its names from the file on and the lines below, but
# not the tests around it. For unit programs: the lines that tests/units.sh marks. And errors from compilers and linkers.
function finish() {
    if (failing && !around)
        printf "%s\n%s%s", title, lines, dropped ? "(" dropped " more lines)\n" : ""
    failing = around = kept = dropped = context = 0
    lines = ""
}
{ match($0, /^ */); depth = RLENGTH / 4 }
/^ *# Subtest: / { finish(); sub(/^ *# Subtest: /, ""); names[depth] = $0; next }
/^ *(not )?ok [0-9]+/ {
    finish()
    failing = /^ *not ok/ && !/# (SKIP|TODO)/
    sub(/^ *not ok [0-9]+ (- )?/, "")
    title = "not ok: "
    for (i = 0; i < depth; i++)
        title = title names[i] " > "
    title = title $0
    next
}
/^ *1\.\.[0-9]+$/ || /^# tests [0-9]+$/ { finish(); next }
failing && /failureType: .subtestsFailed/ { around = 1 }
failing && ++kept <= 60 { lines = lines $0 "\n"; next }
failing { dropped++; next }
/^not ok: / { print; marked = 1; next }
marked && /^ / { print; next }
{ marked = 0 }
/: (fatal )?error: |undefined reference to/ { print; context = 4; next }
/^make.*\*\*\*|^FAIL/ { print; context = 0; next }
context-- > 0
END { finish() }
