#include "url_escapes.h"

#include <string.h>

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The character that the escape at AT stands for, or 0 if it is refused. */
static char decode(const char *at)
{
    const int high = digit(at[1]), low = high < 0 ? -1 : digit(at[2]);

    if (low < 0)
        return 0;
    const char c = (char)(high << 4 | low);
    const char letter = c | 0x20;
    const bool common = (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9');
    return common || (c && strchr("-._~!$'()*+,:;@[]", c)) ? c : 0;
}

const char *url_escapes_refused(const char *uri)
{
    const char *at = strchr(uri, '%');

    while (at && decode(at))
        at = strchr(at + 3, '%');
    return at;
}

bool url_escapes_decode(char *uri)
{
    char *out = strchr(uri, '%');

    if (!out || url_escapes_refused(out))
        return false;
    for (const char *at = out; *at; out++) {
        const bool escape = *at == '%';
        *out = escape ? decode(at) : *at;
        at += escape ? 3 : 1;
    }
    *out = '\0';
    return true;
}
