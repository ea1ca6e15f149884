/* The ground between nodes: triangles whose edges follow the water. */
#include <errno.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/farlands.h"

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
        falling = p->height[a] + p->height[c] > p->height[b] + p->height[d];
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

/* On which side of the line from A to B (X, Y) lies. Both triangles at an edge get the same number
 * but for the sign, so each place is in one of them. */
static inline double side_of(const struct drainage_patch *p, int a, int b, double x, double y)
{
    const int first = a < b ? a : b, last = a < b ? b : a;
    const double side = (p->x[last] - p->x[first]) * (y - p->y[first]) -
                        (p->y[last] - p->y[first]) * (x - p->x[first]);
    return a < b ? side : -side;
}

/* Places along an axis, from an origin. */
struct places {
    const int64_t *at;
    int64_t origin;
    int count;
};

/* The first place at LEAST or more. */
static int first_place(const struct places *p, double least)
{
    int first = 0, end = p->count;
    while (first < end) {
        const int middle = (first + end) / 2;
        if ((double)(p->at[middle] - p->origin) < least)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static double least_of(const double *v, const int node[3])
{
    const double least = v[node[0]] < v[node[1]] ? v[node[0]] : v[node[1]];
    return least < v[node[2]] ? least : v[node[2]];
}

static double most_of(const double *v, const int node[3])
{
    const double most = v[node[0]] > v[node[1]] ? v[node[0]] : v[node[1]];
    return most > v[node[2]] ? most : v[node[2]];
}

/* The samples in a triangle. */
static void fill_triangle(const struct drainage_patch *p, const float *value, const int node[3],
                          const struct places *xs, const struct places *ys, float *out,
                          size_t stride)
{
    const int a = node[0], b = node[1], c = node[2];
    const double whole = area_of(p, a, b, c);
    if (whole <= 0)
        return;
    const double right = most_of(p->x, node), bottom = most_of(p->y, node);
    const int first = first_place(xs, least_of(p->x, node));
    for (int j = first_place(ys, least_of(p->y, node)); j < ys->count; j++) {
        const double y = (double)(ys->at[j] - ys->origin);
        if (y > bottom)
            break;
        for (int i = first; i < xs->count; i++) {
            const double x = (double)(xs->at[i] - xs->origin);
            if (x > right)
                break;
            const double at_a = side_of(p, b, c, x, y), at_b = side_of(p, c, a, x, y),
                         at_c = side_of(p, a, b, x, y);
            if (at_a >= 0 && at_b >= 0 && at_c >= 0)
                out[(size_t)j * stride + (size_t)i] =
                    (float)((at_a * (double)value[a] + at_b * (double)value[b] +
                             at_c * (double)value[c]) /
                            whole);
        }
    }
}

/* The level that a picture with samples BAND_LIMIT apart shows. */
static int level_of(const struct drainage *d, int64_t band_limit)
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
    return turned_cover(t, x, y, 2);
}

/* SAMPLES that are so close to each other that a patch has all nodes around them. */
static int fill_samples(struct drainage *d, int level, const struct drainage_samples *s,
                        struct turned_range range, bool mean, float *out, size_t stride)
{
    const struct drainage_frame frame = {s->x[0], s->y[0], 1, 0};
    const struct places xs = {s->x, s->x[0], s->width}, ys = {s->y, s->y[0], s->height};
    const int err = drainage_fill_patch(d, level, range, &frame);
    const struct drainage_patch *p = d->patch;
    for (int j = 0; j + 1 < range.height && !err; j++)
        for (int i = 0; i + 1 < range.width; i++) {
            int triangle[2][3];
            cut_quad(p, j * range.width + i, triangle);
            for (int k = 0; k < 2; k++)
                fill_triangle(p, mean ? p->mean : p->height, triangle[k], &xs, &ys, out, stride);
        }
    return err;
}

/* Halves SAMPLES until they fit. */
static int fill_parts(struct drainage *d, int level, const struct drainage_samples *s, bool mean,
                      float *out, size_t stride)
{
    const struct turned_range range = range_of(&d->lattice[level], s);
    if (range.width <= PATCH_SIDE && range.height <= PATCH_SIDE)
        return fill_samples(d, level, s, range, mean, out, stride);
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
    const int err = fill_parts(d, level, &a, mean, out, stride);
    if (err)
        return err;
    return fill_parts(d, level, &b, mean,
                      out + (size_t)(b.y - s->y) * stride + (size_t)(b.x - s->x), stride);
}

int drainage_heights(struct drainage *d, const struct drainage_samples *samples, int64_t band_limit,
                     float *out, size_t stride)
{
    return fill_parts(d, level_of(d, band_limit), samples, band_limit > 0, out, stride);
}
