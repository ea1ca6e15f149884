/* The ground between nodes: triangles whose edges follow the water. */
#include <errno.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/drainage/lakes.h"
#include "noise/farlands.h"

/* Samples that are found together, at most, along a side. */
enum { SAMPLES_SIDE = 512 };

/* Nodes matter so many cells outside of samples. */
enum { AROUND = 2 };

/* Twice the area of the triangle of nodes A, B and C; above 0 if they go around to the right. */
static double area_of(const struct drainage_patch *p, int a, int b, int c)
{
    return (p->x[b] - p->x[a]) * (p->y[c] - p->y[a]) - (p->y[b] - p->y[a]) * (p->x[c] - p->x[a]);
}

/* Cut the quadrilateral of the four nodes from A on into two triangles: along the water, if water
 * takes a diagonal; else along the higher one, so that crests have no notches. */
static void cut_quad(const struct drainage_patch *p, int a, int triangle[2][3])
{
    enum { SOUTHEAST = 1, SOUTHWEST = 3 };
    const int b = a + 1, c = b + p->range.width, d = a + p->range.width;
    bool falling = p->receiver[a] == SOUTHEAST || p->receiver[c] == (SOUTHEAST ^ 4);
    const bool rising = p->receiver[b] == SOUTHWEST || p->receiver[d] == (SOUTHWEST ^ 4);
    if (falling == rising)
        falling = p->value[a][PATCH_HEIGHT] + p->value[c][PATCH_HEIGHT] >
                  p->value[b][PATCH_HEIGHT] + p->value[d][PATCH_HEIGHT];
    /* Nodes that were moved may lie beyond a diagonal. */
    if (falling && (area_of(p, a, b, c) <= 0 || area_of(p, a, c, d) <= 0))
        falling = false;
    else if (!falling && (area_of(p, a, b, d) <= 0 || area_of(p, b, c, d) <= 0))
        falling = true;
    triangle[0][0] = a;
    triangle[0][1] = b;
    triangle[0][2] = falling ? c : d;
    triangle[1][0] = falling ? a : b;
    triangle[1][1] = c;
    triangle[1][2] = d;
}

/* Places along an axis, from an origin. */
struct places {
    double at[SAMPLES_SIDE];
    int count;
    double apart, per_place; /* of all of them, and 1 / APART; 0 and 0 */
};

static void place(struct places *p, const int64_t *at, int count)
{
    p->count = count;
    p->apart = count > 1 ? (double)(at[1] - at[0]) : 1;
    for (int k = 0; k < count; k++) {
        p->at[k] = (double)(at[k] - at[0]);
        if (k > 0 && p->at[k] - p->at[k - 1] != p->apart)
            p->apart = 0;
    }
    p->per_place = p->apart > 0 ? 1 / p->apart : 0;
}

/* The first place at LEAST or more. */
static int first_place(const struct places *p, double least)
{
    const double guess = least * p->per_place - 1;
    int first = guess < 0 ? 0 : guess < p->count ? (int)guess : p->count - 1;
    int end = p->count;
    for (; p->apart > 0 && first < end && p->at[first] < least; first++)
        end = p->count;
    while (p->apart == 0 && first < end) {
        const int middle = (first + end) / 2;
        if (p->at[middle] < least)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* What is filled. COLUMN and ROW: for each node the first places at its place or beyond. */
struct filling {
    const struct drainage_patch *patch;
    struct places x, y;
    int16_t column[PATCH_NODES], row[PATCH_NODES];
    int value; /* which of the patch's values; -1: the levels of lakes */
    float *out;
    size_t stride;
};

static int least_of(const int16_t *v, const int node[3])
{
    const int least = v[node[0]] < v[node[1]] ? v[node[0]] : v[node[1]];
    return least < v[node[2]] ? least : v[node[2]];
}

static int most_of(const int16_t *v, const int node[3])
{
    const int most = v[node[0]] > v[node[1]] ? v[node[0]] : v[node[1]];
    return most > v[node[2]] ? most : v[node[2]];
}

/* A triangle from the first of its nodes: ways to both others, the sides' cross product, the value,
 * and how that rises by each unit of the others' weights. */
struct triangle {
    double x, y, bx, by, cx, cy, whole, value, per_b, per_c;
};

/* Fill those of COUNT samples, from AT on in ROW, that are in T. Without branches, which no
 * processor could foresee: the others stay as they are. */
static inline void fill_few(const struct triangle *t, const double *restrict at, double down,
                            int count, float *restrict row)
{
    const double down_b = down * t->cx, down_c = t->bx * down;
    for (int k = 0; k < count; k++) {
        const double along = at[k] - t->x;
        const double of_b = along * t->cy - down_b, of_c = down_c - t->by * along;
        const bool inside = (of_b >= 0) & (of_c >= 0) & (of_b + of_c <= t->whole);
        const float height = (float)(t->value + (of_b * t->per_b + of_c * t->per_c));
        row[k] = inside ? height : row[k];
    }
}

/* The samples in a triangle. A sample's weights are whole numbers below 2^53, twice the areas of
 * triangles: so each sample is in a triangle, and gets the same bits whatever the places begin at.
 */
static void fill_triangle(const struct filling *f, const int node[3], const double value[3])
{
    enum { AT_ONCE = 4 };
    const struct drainage_patch *p = f->patch;
    const int left = least_of(f->column, node), top = least_of(f->row, node);
    /* A place on the last node itself is in the triangle. */
    const int right = most_of(f->column, node) + 1, bottom = most_of(f->row, node) + 1;
    const int end = right < f->x.count ? right : f->x.count;
    const int last = bottom < f->y.count ? bottom : f->y.count;
    if (left >= end || top >= last)
        return;
    const int a = node[0], b = node[1], c = node[2];
    struct triangle t = {.x = p->x[a], .y = p->y[a], .value = value[0]};
    t.bx = p->x[b] - t.x;
    t.by = p->y[b] - t.y;
    t.cx = p->x[c] - t.x;
    t.cy = p->y[c] - t.y;
    t.whole = t.bx * t.cy - t.by * t.cx;
    if (t.whole <= 0)
        return;
    const int room = f->x.count - AT_ONCE; /* the last column that so many begin at */
    const double per = 1 / t.whole;
    t.per_b = (value[1] - t.value) * per;
    t.per_c = (value[2] - t.value) * per;
    for (int j = top; j < last; j++) {
        const double down = f->y.at[j] - t.y;
        float *row = f->out + (size_t)j * f->stride;
        if (room < 0)
            fill_few(&t, f->x.at, down, f->x.count, row);
        for (int from = left; from < end && room >= 0; from += AT_ONCE) {
            const int i = from < room ? from : room;
            fill_few(&t, f->x.at + i, down, AT_ONCE, row + i);
        }
    }
}

/* The level of the lake in a triangle: of its nodes, unless two have different ones, or water would
 * flow out over the third, or all ground is far above it, whatever is added to it. */
static bool find_lake(const struct drainage_patch *p, const int node[3], double value[3])
{
    static const float FAR = 30; /* metres */
    float level = -NODES_HIGH, least = NODES_HIGH;
    for (int k = 0; k < 3; k++) {
        const float height = p->value[node[k]][PATCH_HEIGHT];
        level = p->depth[node[k]] > 0 ? p->lake[node[k]] : level;
        least = height < least ? height : least;
    }
    bool is_one = least < level + FAR;
    for (int k = 0; k < 3; k++) {
        const float height = p->value[node[k]][PATCH_HEIGHT];
        is_one &= p->depth[node[k]] > 0 ? p->lake[node[k]] == level : height >= level;
        value[k] = (double)level;
    }
    return is_one;
}

/* Fill a triangle with what is asked for. */
static void fill_value(const struct filling *f, const int node[3])
{
    double value[3];
    if (f->value < 0) {
        if (find_lake(f->patch, node, value))
            fill_triangle(f, node, value);
        return;
    }
    for (int k = 0; k < 3; k++)
        value[k] = (double)f->patch->value[node[k]][f->value];
    fill_triangle(f, node, value);
}

/* Lower the ground at lakes. Means are lowered as much; and under water there is nothing above the
 * ground. */
static void lower_ground(struct drainage_patch *p)
{
    const int count = p->range.width * p->range.height;
    for (int k = 0; k < count && p->has_lakes; k++) {
        float *height = &p->value[k][PATCH_HEIGHT], *mean = &p->value[k][PATCH_MEAN];
        if (p->receiver[k] == NODE_UNKNOWN || p->depth[k] == 0)
            continue;
        const float to = lake_lower(*height, p->lake[k], p->depth[k]);
        *mean = to < p->lake[k] ? to : *mean - (*height - to);
        *height = to;
    }
}

static void fill_quad(const struct filling *f, int a)
{
    const int8_t *above = f->patch->receiver + a, *below = above + f->patch->range.width;
    int triangle[2][3];
    if (above[0] == NODE_UNKNOWN || above[1] == NODE_UNKNOWN || below[0] == NODE_UNKNOWN ||
        below[1] == NODE_UNKNOWN)
        return;
    cut_quad(f->patch, a, triangle);
    fill_value(f, triangle[0]);
    fill_value(f, triangle[1]);
}

int drainage_level(const struct drainage *d, int64_t band_limit)
{
    int level = d->params.levels - 1;
    while (level > 0 && d->params.spacing >> level < 2 * band_limit)
        level--;
    return level;
}

/* The nodes around SAMPLES. */
static struct turned_range range_of(const struct turned *t, const struct drainage_samples *s)
{
    const int64_t left = s->x[0], right = s->x[s->width - 1];
    const int64_t top = s->y[0], bottom = s->y[s->height - 1];
    const int64_t x[4] = {left, right, left, right}, y[4] = {top, top, bottom, bottom};
    return turned_cover(t, x, y, AROUND);
}

/* SAMPLES that are so close to each other that a patch has all nodes around them. */
static int fill_samples(struct drainage *d, int level, const struct drainage_samples *s,
                        struct turned_range range, int value, float *out, size_t stride)
{
    const struct drainage_frame frame = drainage_frame_of(
        s->x[0], s->y[0], s->x[s->width - 1] - s->x[0], s->y[s->height - 1] - s->y[0],
        AROUND * FARLANDS_UNIT * d->lattice[level].metres);
    struct filling f = {.patch = d->patch, .value = value, .out = out, .stride = stride};
    const int err = drainage_fill_patch(d, level, range, &frame, value < 0);
    if (err || (value < 0 && !d->patch->has_lakes))
        return err;
    lower_ground(d->patch);
    place(&f.x, s->x, s->width);
    place(&f.y, s->y, s->height);
    for (int k = 0; k < range.width * range.height; k++)
        if (d->patch->receiver[k] != NODE_UNKNOWN) {
            f.column[k] = (int16_t)first_place(&f.x, d->patch->x[k]);
            f.row[k] = (int16_t)first_place(&f.y, d->patch->y[k]);
        }
    for (int j = 0; j + 1 < range.height; j++)
        for (int i = 0; i + 1 < range.width; i++)
            fill_quad(&f, j * range.width + i);
    return 0;
}

/* Halves SAMPLES until they fit. */
static int fill_parts(struct drainage *d, int level, const struct drainage_samples *s, int value,
                      float *out, size_t stride)
{
    const struct turned_range range = range_of(&d->lattice[level], s);
    if (range.width <= PATCH_SIDE && range.height <= PATCH_SIDE && s->width <= SAMPLES_SIDE &&
        s->height <= SAMPLES_SIDE)
        return fill_samples(d, level, s, range, value, out, stride);
    struct drainage_samples a = *s, b = *s;
    if (s->width > s->height) {
        a.width = s->width / 2;
        b.width = s->width - a.width;
        b.x += a.width;
    } else {
        a.height = s->height / 2;
        b.height = s->height - a.height;
        b.y += a.height;
    }
    const int err = fill_parts(d, level, &a, value, out, stride);
    if (err)
        return err;
    return fill_parts(d, level, &b, value,
                      out + (size_t)(b.y - s->y) * stride + (size_t)(b.x - s->x), stride);
}

/* Whether COUNT places are all APART. */
static bool is_even(const int64_t *at, int count, int64_t apart)
{
    int k = 1;
    while (k < count && at[k] - at[k - 1] == apart)
        k++;
    return k >= count;
}

/* The mean of what rivers will build over land, where water runs at ENVELOPE: a fit to mountains,
 * hills and plains with concavity 0.45. */
static float mean_over_envelope(float envelope, float steepness, float side, float top)
{
    const float r = 1.05f * steepness / side;
    const float mean = envelope + 2400 * steepness / sqrtf(1 + r * r);
    return mean < top ? mean : top;
}

/* The heights of a picture whose pixels are far wider than valleys: the envelope, and the mean of
 * what rivers add to it. */
static int fill_over_envelope(struct drainage *d, const struct farlands_grid *grid, float *out,
                              size_t stride)
{
    float *in[DRAINAGE_INPUTS];
    for (enum drainage_input k = 0; k < DRAINAGE_INPUTS; k++)
        in[k] = k >= DRAINAGE_ICE ? NULL : drainage_samples_of(d, k);
    const int err = d->source(d->context, grid, in);
    for (int k = 0; k < grid->width * grid->height && !err; k++) {
        const float envelope = in[DRAINAGE_ENVELOPE][k];
        const float mean = mean_over_envelope(envelope, in[DRAINAGE_STEEPNESS][k],
                                              in[DRAINAGE_SIDE][k], in[DRAINAGE_TOP][k]);
        out[(size_t)(k / grid->width) * stride + (size_t)(k % grid->width)] =
            envelope > (float)d->params.base ? mean : envelope;
    }
    return err;
}

/* The same, in grids whose samples are BAND_LIMIT apart. */
static int fill_grids(struct drainage *d, const struct drainage_samples *s, int64_t band_limit,
                      float *out, size_t stride)
{
    const int wide = is_even(s->x, s->width, band_limit) ? INPUT_SIDE : 1;
    const int high = is_even(s->y, s->height, band_limit) ? INPUT_SIDE : 1;
    int err = 0;
    for (int j = 0; j < s->height && !err; j += high)
        for (int i = 0; i < s->width && !err; i += wide) {
            const struct farlands_grid grid = {s->x[i],
                                               s->y[j],
                                               band_limit,
                                               s->width - i < wide ? s->width - i : wide,
                                               s->height - j < high ? s->height - j : high,
                                               true};
            err = fill_over_envelope(d, &grid, out + (size_t)j * stride + i, stride);
        }
    return err;
}

int drainage_heights(struct drainage *d, const struct drainage_samples *samples, int64_t band_limit,
                     float *out, size_t stride)
{
    const int level = drainage_level(d, band_limit);
    if (band_limit > 0 && !drainage_builds(d, level))
        return fill_grids(d, samples, band_limit, out, stride);
    return fill_parts(d, level, samples, band_limit > 0 ? PATCH_MEAN : PATCH_HEIGHT, out, stride);
}

int drainage_lakes(struct drainage *d, const struct drainage_samples *samples, int64_t band_limit,
                   float *out, size_t stride)
{
    const int level = drainage_level(d, band_limit);
    return drainage_builds(d, level) ? fill_parts(d, level, samples, -1, out, stride) : 0;
}
