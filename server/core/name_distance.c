#include "name_distance.h"

#include <ctype.h>

enum { LONGEST = 31 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

unsigned name_distance(struct span text, const char *name)
{
    const size_t length = strlen(name);
    const size_t longer = text.length > length ? text.length : length;
    const size_t difference = longer - (text.length < length ? text.length : length);
    /* Row i has the distances of the first i letters of TEXT from the beginnings of NAME. */
    unsigned rows[3][LONGEST + 1];

    if (longer > LONGEST || 3 * difference > longer)
        return NAME_DISTANCE_NONE;
    for (unsigned j = 0; j <= length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= text.length; i++) {
        const unsigned *before = rows[(i + 1) % 3], *above = rows[(i - 1) % 3];
        unsigned *row = rows[i % 3];
        const char letter = text.text[i - 1];
        row[0] = i;
        for (unsigned j = 1; j <= length; j++) {
            row[j] = least(least(row[j - 1], above[j]) + 1,
                           above[j - 1] + !is_same(letter, name[j - 1]));
            if (i > 1 && j > 1 && is_same(letter, name[j - 2]) &&
                is_same(text.text[i - 2], name[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    const unsigned distance = rows[text.length % 3][length];
    return 3 * distance <= longer ? distance : NAME_DISTANCE_NONE;
}
