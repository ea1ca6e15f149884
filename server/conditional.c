#include "conditional.h"

#include <string.h>

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* One entity-tag, W/ or not: its quoted part through QUOTED. Returns its end, or NULL. */
static const char *entity_tag(const char *at, const char **quoted)
{
    if (at[0] == 'W' && at[1] == '/')
        at += 2;
    *quoted = at;
    if (*at != '"')
        return NULL;
    const char *close = strchr(at + 1, '"');
    return close ? close + 1 : NULL;
}

bool none_match_holds(const char *if_none_match, const char *etag)
{
    const size_t length = strlen(etag);
    bool found = false;

    if (!if_none_match)
        return false;
    const char *at = skip_blanks(if_none_match);
    if (*at == '*')
        return *skip_blanks(at + 1) == '\0';
    while (*at) {
        const char *quoted;
        if (*at != ',') { /* empty elements are allowed */
            at = entity_tag(at, &quoted);
            if (!at)
                return false;
            if ((size_t)(at - quoted) == length && memcmp(quoted, etag, length) == 0)
                found = true;
            at = skip_blanks(at);
            if (*at && *at != ',')
                return false;
        }
        at = skip_blanks(at + (*at == ','));
    }
    return found;
}
