#include "human_units.h"

#include <math.h>
#include <stdio.h>

char *human_units_bytes(double bytes, char buffer[HUMAN_UNITS_TEXT])
{
    static const char suffixes[] = "KMGTPEZY";
    int power = -1;
    while (bytes >= 1023.95 && suffixes[power + 1]) {
        bytes /= 1024;
        power++;
    }
    if (power < 0)
        snprintf(buffer, HUMAN_UNITS_TEXT, "%.0f", bytes);
    else
        snprintf(buffer, HUMAN_UNITS_TEXT, "%.1f%c", bytes, suffixes[power]);
    return buffer;
}

char *human_units_seconds(double seconds, char buffer[HUMAN_UNITS_TEXT])
{
    const double whole = ceil(seconds);
    const long rest = whole < 360000 ? (long)whole : 0;
    if (seconds < 9.95)
        snprintf(buffer, HUMAN_UNITS_TEXT, "%.1f s", seconds);
    else if (whole >= 360000)
        snprintf(buffer, HUMAN_UNITS_TEXT, "%.0f days", ceil(seconds / 86400));
    else if (rest >= 3600)
        snprintf(buffer, HUMAN_UNITS_TEXT, "%ld:%02ld:%02ld h", rest / 3600, rest / 60 % 60,
                 rest % 60);
    else if (rest >= 60)
        snprintf(buffer, HUMAN_UNITS_TEXT, "%ld:%02ld min", rest / 60, rest % 60);
    else
        snprintf(buffer, HUMAN_UNITS_TEXT, "%ld s", rest);
    return buffer;
}
