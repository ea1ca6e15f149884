# What the scripts that read farlands.yaml share.

# The path of the key in LINE, whose spaces are its depth.
function path_of(line,    key, depth, i, place)
{
    match(line, /^ *(- )?[a-z_]+:/)
    key = substr(line, 1, RLENGTH - 1)
    sub(/- /, "  ", key)
    match(key, /^ */)
    depth = RLENGTH / 2
    name[depth] = substr(key, RLENGTH + 1)
    place = name[0]
    for (i = 1; i <= depth; i++)
        if (i in name && !(name[0] == "worlds" && i == 1))
            place = place "." name[i]
    return place
}
