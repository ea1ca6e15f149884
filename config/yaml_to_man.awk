# config/farlands.yaml -> farlands.yaml(5) on standard output: each key with its default and the comment
# above it. Lines that begin with a space keep their line breaks in roff.
function text(line)
{
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    return line ~ /^[.']/ ? "\\&" line : line
}

function print_comment(    i)
{
    for (i = 0; i < lines; i++)
        print text(comment[i])
    lines = 0
}

# The key in LINE, which has been matched, and the comment above it.
function print_key(line,    value)
{
    if (!keys++)
        print ".SH KEYS"
    value = substr(line, RLENGTH + 2)
    sub(/^ */, "", value)
    if (line ~ /^ *- /)
        print ".PP\nOf each world:"
    value = text(value)
    gsub(/"/, "\\(dq", value)
    print ".TP\n.BR " text(path_of(line)) (value == "" ? "" : " \" (" value ")\"")
    print_comment()
}

BEGIN {
    print ".TH FARLANDS.YAML 5 \"\" Farlands \"File Formats\""
    print ".SH NAME\nfarlands.yaml \\- the configuration of farlands\n.SH DESCRIPTION"
}

# The worlds are in comments, because without the key other worlds are served.
/^#worlds:/ {
    worlds = 1
}

worlds {
    sub(/^#/, "")
}

# A key in a comment, alone on its line or with a word: worlds may have it, and lines below it are an example.
!example && /^ *# [a-z_]+:( [a-z.]+)?$/ {
    line = $0
    sub(/# /, "", line)
    sub(/: .*/, ":", line)
    match(line, /^ *[a-z_]+:/)
    print_key(line)
    example = 1
    next
}

/^ *#/ {
    line = $0
    sub(/^ *# ?/, "", line)
    comment[lines++] = line
    next
}

# Paragraphs before the first key are about the file; later ones about the key below them.
/^$/ {
    if (!keys || example)
        print_comment()
    example = 0
    next
}

match($0, /^ *(- )?[a-z_]+:/) {
    print_key($0)
}
