/* Windows: the samples in a block that lie near something. */
#include "river_windows.h"

#include "noise/farlands.h"

/* Samples FIRST to END - 1 along an axis. */
struct span {
    int first, end;
};

/* The part of SPAN at LEAST .. MOST units. */
static struct span cut(struct coordinates along, struct span span, int64_t least, int64_t most)
{
    int a = span.first, b = span.end;
    if (along.at) {
        while (a < b && coordinate_at(along, a) < least)
            a++;
        while (b > a && coordinate_at(along, b - 1) > most)
            b--;
    } else {
        const int64_t skip = least - coordinate_at(along, a);
        const int64_t over = coordinate_at(along, b - 1) - most;
        if (skip > 0)
            a = skip > (b - a) * along.step ? b : a + (int)((skip + along.step - 1) / along.step);
        if (over > 0)
            b = over > (b - a) * along.step ? a : b - (int)((over + along.step - 1) / along.step);
    }
    return (struct span){a, b};
}

/* The places of SPAN's samples, in metres from ORIGIN. Samples beyond the last one, END - 1, get
 * its place again. */
static void find_places(struct coordinates along, struct span span, int end, int64_t origin,
                        float *place)
{
    if (!along.at) {
        /* Exact: differences are far below 2^53 units. */
        const double begin = (double)(coordinate_at(along, span.first) - origin) / FARLANDS_UNIT;
        const double apart = (double)along.step / FARLANDS_UNIT;
        for (int i = span.first; i < span.end; i++)
            place[i] = (float)(begin + (double)(i - span.first) * apart);
    }
    for (int i = span.first; i < span.end && i < end && along.at; i++)
        place[i] = (float)((double)(along.at[i] - origin) / FARLANDS_UNIT);
    for (int i = end; i < span.end; i++)
        place[i] = place[end - 1];
}

bool river_window_find(const struct river_block *b, int64_t x, int64_t y, struct river_box box,
                       float place[2][KERNEL_CHUNK], struct river_window *w)
{
    const int step = b->step;
    struct span columns = cut(b->chunk->x, (struct span){b->i, b->i2}, x + river_units(box.left),
                              x + river_units(box.right));
    if (columns.first >= columns.end)
        return false;
    const struct span rows = cut(b->chunk->y, (struct span){b->j, b->j2}, y + river_units(box.top),
                                 y + river_units(box.bottom));
    if (rows.first >= rows.end)
        return false;
    columns.first = columns.first / step * step;
    columns.end = (columns.end + step - 1) / step * step;
    find_places(b->chunk->x, columns, b->i2, x, place[0]);
    find_places(b->chunk->y, rows, b->j2, y, place[1]);
    *w =
        (struct river_window){columns.first, columns.end, rows.first, rows.end, place[0], place[1]};
    return true;
}

struct river_window river_window_near(const struct river_block *b, const struct river_window *w,
                                      const struct river_piece *p, float reach)
{
    struct river_window near = *w;
    const float x = p->x + p->along_x, y = p->y + p->along_y;
    const float left = (x < p->x ? x : p->x) - reach, right = (x > p->x ? x : p->x) + reach;
    const float top = (y < p->y ? y : p->y) - reach, bottom = (y > p->y ? y : p->y) + reach;
    while (near.i < near.i2 && near.x[near.i + b->step - 1] < left)
        near.i += b->step;
    while (near.i < near.i2 && near.x[near.i2 - b->step] > right)
        near.i2 -= b->step;
    while (near.j < near.j2 && near.y[near.j] < top)
        near.j++;
    while (near.j < near.j2 && near.y[near.j2 - 1] > bottom)
        near.j2--;
    return near;
}
