# The lines of key_table.c and a document -> the document with comments and tables made of these lines.
#
#   awk -f config/key_path.awk -f config/keys_to_documents.awk KEYS DOCUMENT
#
# In YAML the first paragraph of comment above a key is its HELP and its values, unless an earlier key has the same HELP.
# In Markdown there is a table between the following lines, of all keys that begin with noise. (of `worlds.`: and
# are in no section).
#
#   <!-- keys: noise. -->
#   <!-- end of keys -->
BEGIN {
    FS = "\t"
}

FNR == NR {
    path[++count] = $1
    values[$1] = $2
    preset[$1] = $3
    help[$1] = $4
    next
}

# --- Markdown ---

# Markdown would take stars for emphasis and bars for cells.
function plain(text)
{
    gsub(/[*|]/, "\\\\&", text)
    return text
}

# The defaults of the keys below PREFIX that are like KEY, one in each section; `alike` is their number.
function presets(prefix, key,    i, other, list, differ)
{
    alike = 0
    for (i = 1; i <= count; i++) {
        other = path[i]
        if (index(other, prefix) != 1 || last_part(other) != last_part(key) || help[other] != help[key])
            continue
        list = list (alike++ ? ", " : "") preset[other]
        differ = differ || preset[other] != preset[key]
    }
    return differ ? list : preset[key]
}

function last_part(key)
{
    sub(/.*\./, "", key)
    return key
}

function print_table(prefix,    i, key, name, list, told)
{
    print "\n| key | values | default | effect |\n|---|---|---|---|"
    for (i = 1; i <= count; i++) {
        key = path[i]
        name = substr(key, length(prefix) + 1)
        if (index(key, prefix) != 1 || (prefix == "worlds." && name ~ /\./))
            continue
        list = presets(prefix, key)
        if (alike > 1 && told[last_part(key) help[key]]++)
            continue
        if (alike > 1)
            name = "*." last_part(key)
        print "| `" name "` | " plain(values[key]) " | " list " | " plain(help[key]) " |"
    }
    print ""
}

FILENAME ~ /\.md$/ {
    if ($0 == "<!-- end of keys -->")
        inside = 0
    if (!inside)
        print
    if ($0 ~ /^<!-- keys: .* -->$/) {
        print_table(substr($0, 12, length($0) - 15))
        inside = 1
    }
    next
}

# --- YAML ---

function print_held(from,    i)
{
    for (i = from; i <= lines; i++)
        print held[i]
    lines = 0
}

# What follows HELP: the values, unless it names them.
function values_of(key,    text, first)
{
    text = values[key]
    if (text ~ /^`/) {
        gsub(/`/, "", text)
        first = text
        sub(/,.*/, "", first)
        return first == "true" || index(help[key], first) ? "" : " One of " text "."
    }
    if (text ~ /^[-0-9.\/^]+ to [-0-9.\/^]+( blocks)?$/)
        text = "from " text
    return text == "" ? "" : " " toupper(substr(text, 1, 1)) substr(text, 2) "."
}

function print_comment(indent, text,    words, n, i, line)
{
    n = split(text, words, " ")
    line = indent "#"
    for (i = 1; i <= n; i++) {
        if (length(line words[i]) > 94) {
            print line
            line = indent "#"
        }
        line = line " " words[i]
    }
    print line
}

function print_key(line,    key, indent, i)
{
    key = path_of(line)
    match(line, /^ */)
    indent = (worlds ? "#" : "") substr(line, 1, RLENGTH)
    for (i = 1; i <= lines && held[i] !~ /^#? *#$/; i++)
        continue
    if (!(key in help))
        i = 1
    else if (!told[help[key]]++)
        print_comment(indent, help[key] values_of(key))
    print_held(i)
}

# The worlds are in comments, since others are served without the key.
{
    line = $0
    if (worlds || /^#worlds:/)
        sub(/^#/, "", line)
}

# A key in a comment, alone on its line or with a word; lines below it are an example.
!example && line ~ /^ *# [a-z_]+:( [a-z.]+)?$/ {
    bare = line
    sub(/# /, "", bare)
    print_key(bare)
    print
    example = 1
    next
}

!example && line ~ /^ *#/ {
    held[++lines] = $0
    next
}

line ~ /^ *(- )?[a-z_]+:/ {
    print_key(line)
    example = 0
}

!/./ {
    print_held(1)
    example = 0
}

{
    print
    worlds = worlds || /^#worlds:/
}

END {
    print_held(1)
}
