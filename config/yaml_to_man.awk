# config/farlands.yaml -> farlands.yaml(5), on standard output: each key with its place, its default and the
# comment above it. What is set off by three spaces in a comment stays as it is.
function text(line)
{
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    return line ~ /^[.']/ ? "\\&" line : line
}

function tell(    i)
{
    for (i = 0; i < said; i++) {
        if (comment[i] ~ /^   /)
            print ".br"
        print text(comment[i])
    }
    said = 0
}

BEGIN {
    print ".TH FARLANDS.YAML 5 \"\" Farlands \"File Formats\""
    print ".SH NAME\nfarlands.yaml \\- the configuration of farlands\n.SH DESCRIPTION"
}

/^ *#/ {
    line = $0
    sub(/^ *# ?/, "", line)
    comment[said++] = line
    next
}

# The first paragraphs speak of the file; later ones of the key below them.
/^$/ {
    if (!keys)
        tell()
    next
}

match($0, /^ *(- )?[a-z_]+:/) {
    if (!keys++)
        print ".SH KEYS"
    key = substr($0, 1, RLENGTH - 1)
    value = substr($0, RLENGTH + 2)
    sub(/^ */, "", value)
    list = key ~ /- /
    sub(/- /, "  ", key)
    match(key, /^ */)
    depth = RLENGTH / 2
    name[depth] = substr(key, RLENGTH + 1)
    place = name[0]
    for (i = 1; i <= depth; i++)
        if (i in name && !(place == "worlds" && i == 1))
            place = place "." name[i]
    if (list)
        print ".PP\nOf each world:"
    value = text(value)
    gsub(/"/, "\\(dq", value)
    print ".TP\n.BR " text(place) (value == "" ? "" : " \" (" value ")\"")
    tell()
}
