#include "name_distance.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST = 31 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

unsigned name_distance(const char *text, size_t length, const char *name)
{
    const size_t wanted = strlen(name);
    const size_t longer = length > wanted ? length : wanted;
    const size_t difference = longer - (length < wanted ? length : wanted);
    /* Row i has the distances between TEXT's first i letters and each beginning of NAME. The last
     * three rows are kept, in turn. */
    unsigned rows[3][LONGEST + 1];

    if (longer > LONGEST || 3 * difference > longer)
        return NAME_DISTANCE_NONE;
    for (unsigned j = 0; j <= wanted; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= length; i++) {
        const unsigned *before = rows[(i + 1) % 3], *above = rows[(i - 1) % 3];
        unsigned *row = rows[i % 3];
        const char letter = text[i - 1];
        row[0] = i;
        for (unsigned j = 1; j <= wanted; j++) {
            row[j] = least(least(row[j - 1], above[j]) + 1,
                           above[j - 1] + !is_same(letter, name[j - 1]));
            if (i > 1 && j > 1 && is_same(letter, name[j - 2]) && is_same(text[i - 2], name[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    const unsigned distance = rows[length % 3][wanted];
    return 3 * distance <= longer ? distance : NAME_DISTANCE_NONE;
}
