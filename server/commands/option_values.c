#include "option_values.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "server/core/span.h"

int option_refuse(char why[OPTION_WHY], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, OPTION_WHY, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

int option_count(enum command_option option, const char *text, unsigned max, unsigned *out,
                 char why[OPTION_WHY])
{
    uint64_t count;
    if (unsigned_parse(text, strlen(text), &count) || count < 1 || count > max)
        return option_refuse(why, "%s: \"%.40s\"; expected a whole number from 1 to %u",
                             option_shown(option), text, max);
    *out = (unsigned)count;
    return 0;
}

int option_box(enum command_option option, const char *text, int64_t least[2], int64_t beyond[2],
               char why[OPTION_WHY])
{
    struct span rest = {text, strlen(text)};
    int64_t *const places[] = {&least[0], &least[1], &beyond[0], &beyond[1]};
    int count = 0;

    for (; count < 4 && rest.length > 0; count++) {
        const struct span place = span_take(&rest, ',');
        const int err = blocks_parse(place.text, place.length, places[count]);
        if (err == -ERANGE ||
            (!err && (*places[count] < -FARLANDS_LIMIT || *places[count] > FARLANDS_LIMIT)))
            return option_refuse(why, "%s: %.*s is beyond the limit of 2^52 blocks",
                                 option_shown(option), span_shown(place), place.text);
        if (err)
            break;
    }
    if (count == 4 && rest.length == 0 && text[strlen(text) - 1] != ',')
        return 0;
    return option_refuse(why,
                         "%s: \"%.80s\"; expected x0,y0,x1,y1, four numbers of blocks in steps of "
                         "1/1024, such as -4096,0,4096,8192.5",
                         option_shown(option), text);
}
