#include "headings.h"

#include <math.h>

#include "noise/farlands.h"

void headings_lift(struct headings_line *line)
{
    line->begun = false;
}

/* Count the chord that ends at TO, and begin the next one. */
static void count(struct headings_line *line, const double to[2])
{
    const double dx = to[0] - line->since[0], dy = to[1] - line->since[1];
    const double length = sqrt(dx * dx + dy * dy);
    line->since[0] = to[0];
    line->since[1] = to[1];
    line->way = 0;
    if (!(length > 0))
        return;
    /* Powers instead of sines, whose bits depend on the C library. */
    const double x = dx / length, y = dy / length;
    const double x2 = x * x - y * y, y2 = 2 * x * y;
    const double x4 = x2 * x2 - y2 * y2, y4 = 2 * x2 * y2;
    line->headings.real += x4 * x2 - y4 * y2;
    line->headings.imaginary += x4 * y2 + y4 * x2;
    line->headings.chords++;
}

static void begin(struct headings_line *line, int64_t x, int64_t y)
{
    *line = (struct headings_line){.headings = line->headings, .begun = true, .origin = {x, y}};
}

void headings_go(struct headings_line *line, int64_t x, int64_t y)
{
    if (!line->begun) {
        begin(line, x, y);
        return;
    }
    const double to[] = {(double)(x - line->origin[0]) / FARLANDS_UNIT,
                         (double)(y - line->origin[1]) / FARLANDS_UNIT};
    double dx = to[0] - line->from[0], dy = to[1] - line->from[1];
    double left = sqrt(dx * dx + dy * dy);
    while (line->way + left >= (double)HEADINGS_CHORD) {
        const double part = ((double)HEADINGS_CHORD - line->way) / left;
        line->from[0] += part * dx;
        line->from[1] += part * dy;
        count(line, line->from);
        dx = to[0] - line->from[0];
        dy = to[1] - line->from[1];
        left = sqrt(dx * dx + dy * dy);
    }
    line->way += left;
    line->from[0] = to[0];
    line->from[1] = to[1];
}

double headings_hexagonal(const struct headings *headings)
{
    return hypot(headings->real, headings->imaginary) / headings->chords;
}
