#include "conditional.h"

#include <string.h>

bool none_match_holds(const char *if_none_match, const char *etag)
{
    const size_t length = strlen(etag);
    const char *at = if_none_match;

    if (!at)
        return false;
    for (;;) {
        at += strspn(at, " \t,");
        if (*at == '*')
            return at[1 + strspn(at + 1, " \t")] == '\0';
        if (at[0] == 'W' && at[1] == '/')
            at += 2;
        if (*at != '"')
            return false;
        const char *end = strchr(at + 1, '"');
        if (!end)
            return false;
        end++;
        if ((size_t)(end - at) == length && memcmp(at, etag, length) == 0)
            return true;
        at = end;
    }
}
