/* UTF-8 that is safe on a terminal. */
#ifndef FARLANDS_TELEMETRY_UTF8_H
#define FARLANDS_TELEMETRY_UTF8_H

#include <stdint.h>

/* Returns the length of the first character in TEXT (RFC 3629, section 4), which ends with a NUL.
 * Returns 0 for an invalid or a control character: U+0000 to U+001F, U+007F to U+009F. */
static inline unsigned utf8_printable(const uint8_t *text)
{
    unsigned length = text[0] >= 0x20 && text[0] < 0x7f;
    uint8_t lowest = 0x80, highest = 0xbf; /* byte 2: neither overlong forms nor surrogates */

    if (text[0] >= 0xc2 && text[0] <= 0xdf)
        length = 2;
    else if ((text[0] & 0xf0) == 0xe0)
        length = 3;
    else if (text[0] >= 0xf0 && text[0] <= 0xf4)
        length = 4;
    if (text[0] == 0xc2 || text[0] == 0xe0)
        lowest = 0xa0; /* after 0xc2: no control characters */
    else if (text[0] == 0xed)
        highest = 0x9f;
    else if (text[0] == 0xf0)
        lowest = 0x90;
    else if (text[0] == 0xf4)
        highest = 0x8f;
    if (length > 1 && (text[1] < lowest || text[1] > highest))
        return 0;
    for (unsigned i = 2; i < length; i++) /* also stops at a NUL */
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

#endif
