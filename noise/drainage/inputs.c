/* The world's fields at a block's nodes. */
#include <errno.h>
#include <math.h>

#include "noise/drainage/between.h"
#include "noise/drainage/drainage_parts.h"
#include "noise/exact/lattice.h"
#include "noise/farlands.h"

_Static_assert((int)DRAINAGE_ICE == FOUR, "the inputs before ice are read all at once");

/* The block's nodes: from column I and row J of LATTICE on. */
struct place {
    struct drainage *d;
    const struct turned *lattice;
    int64_t i, j;
};

/* Where samples are, with about CELLS cells between them. */
static struct farlands_grid place_samples(const struct place *b, int cells)
{
    int64_t x[4], y[4], step = 1;
    while (2 * step <= (int64_t)(b->lattice->metres * 1.001) * FARLANDS_UNIT * cells)
        step *= 2;
    drainage_corners(b->lattice, b->i, b->j, x, y);
    int64_t left = x[0], right = x[0], top = y[0], bottom = y[0];
    for (int k = 1; k < 4; k++) {
        left = x[k] < left ? x[k] : left;
        right = x[k] > right ? x[k] : right;
        top = y[k] < top ? y[k] : top;
        bottom = y[k] > bottom ? y[k] : bottom;
    }
    left = lattice_floor(left, step) * step;
    top = lattice_floor(top, step) * step;
    return (struct farlands_grid){
        left, top, step, (int)((right - left) / step) + 2, (int)((bottom - top) / step) + 2, true};
}

/* Sample inputs FIRST to LAST. */
static int ask(const struct place *b, const struct farlands_grid *grid, enum drainage_input first,
               enum drainage_input last)
{
    if (grid->width > INPUT_SIDE || grid->height > INPUT_SIDE)
        return -ERANGE;
    return drainage_sample(b->d, grid, first, last);
}

/* A rectangle of the squares between samples: columns from LEFT to before RIGHT, rows from TOP to
 * before BOTTOM. */
struct squares {
    int left, right, top, bottom;
};

/* The squares that may have a coast, and the sea's: a corner is less above BASE than twice the most
 * by which neighbors differ, or than what may lie between them. */
static struct squares find_coast(const float *envelope, const struct farlands_grid *grid,
                                 float base)
{
    static const float BETWEEN = 50; /* metres */
    struct squares coast = {grid->width, 0, grid->height, 0};
    float most = BETWEEN / 2;
    for (int j = 1; j < grid->height; j++)
        for (int i = 1; i < grid->width; i++) {
            const float *here = envelope + j * grid->width + i;
            const float east = fabsf(here[0] - here[-1]);
            const float south = fabsf(here[0] - here[-grid->width]);
            most = east > most ? east : most;
            most = south > most ? south : most;
        }
    for (int j = 0; j < grid->height; j++)
        for (int i = 0; i < grid->width; i++)
            if (envelope[j * grid->width + i] - base < 2 * most) {
                coast.left = i - 1 < coast.left ? i - 1 : coast.left;
                coast.right = i + 1 > coast.right ? i + 1 : coast.right;
                coast.top = j - 1 < coast.top ? j - 1 : coast.top;
                coast.bottom = j + 1 > coast.bottom ? j + 1 : coast.bottom;
            }
    const int wide = grid->width - 1, high = grid->height - 1;
    return (struct squares){coast.left < 0 ? 0 : coast.left,
                            coast.right < wide ? coast.right : wide, coast.top < 0 ? 0 : coast.top,
                            coast.bottom < high ? coast.bottom : high};
}

/* Samples TIMES as fine over SQUARES of GRID. */
static struct farlands_grid refine(const struct farlands_grid *grid, const struct squares *squares,
                                   int times)
{
    return (struct farlands_grid){grid->x + squares->left * grid->step,
                                  grid->y + squares->top * grid->step,
                                  grid->step / times,
                                  (squares->right - squares->left) * times + 1,
                                  (squares->bottom - squares->top) * times + 1,
                                  true};
}

/* Where nodes are between samples: that in column u and row v, in cells, is at WEST + A u - B v and
 * NORTH + B u + A v, in steps. */
struct sampling {
    float west, north, a, b;
    int width, height;
};

static struct sampling sampling_of(const struct place *b, const struct farlands_grid *grid)
{
    const float scale = 1 / (float)grid->step;
    return (struct sampling){(float)(turned_x(b->lattice, b->i, b->j) - grid->x) * scale,
                             (float)(turned_y(b->lattice, b->i, b->j) - grid->y) * scale,
                             (float)b->lattice->a * scale,
                             (float)b->lattice->b * scale,
                             grid->width,
                             grid->height};
}

/* A place between four samples: the first one's column and row, and the way from there, in steps.
 */
struct between {
    int i, j;
    float x, y;
};

static inline struct between between_samples(const struct sampling *f, const struct nodes *n,
                                             int column, int row, int p)
{
    const float u = (float)column + n->x[p], v = (float)row + n->y[p];
    const float x = f->west + (f->a * u - f->b * v), y = f->north + (f->b * u + f->a * v);
    const int i = (int)x < f->width - 2 ? (int)x : f->width - 2;
    const int j = (int)y < f->height - 2 ? (int)y : f->height - 2;
    return (struct between){i, j, x - (float)i, y - (float)j};
}

/* The inputs before ice at all nodes, from samples of the same places. */
static void read_inputs(const struct place *b, const struct farlands_grid *grid)
{
    const struct sampling f = sampling_of(b, grid);
    struct nodes *n = b->d->nodes;
    float samples[BROAD_SIDE * BROAD_SIDE][FOUR];
    for (int k = 0; k < grid->width * grid->height; k++)
        for (enum drainage_input in = 0; in < DRAINAGE_ICE; in++)
            samples[k][in] = drainage_samples_of(b->d, in)[k];
    for (int row = 0; row < NODES_SIDE; row++)
        for (int column = 0; column < NODES_SIDE; column++) {
            const int p = node_at(column, row);
            const struct between at = between_samples(&f, n, column, row, p);
            const float *first = samples[at.j * f.width + at.i];
            const four_values value = between_four(first, f.width * FOUR, at.x, at.y);
            n->envelope[p] = value[DRAINAGE_ENVELOPE];
            n->steepness[p] = value[DRAINAGE_STEEPNESS];
            n->side[p] = value[DRAINAGE_SIDE];
            n->top[p] = value[DRAINAGE_TOP];
        }
}

/* INPUT at the nodes in SQUARES of BROAD, from its samples on GRID. */
static void read_input(const struct place *b, const struct farlands_grid *broad,
                       const struct squares *squares, const struct farlands_grid *grid,
                       enum drainage_input input, float *out)
{
    const struct sampling f = sampling_of(b, grid), wide = sampling_of(b, broad);
    const float *samples = drainage_samples_of(b->d, input);
    const struct nodes *n = b->d->nodes;
    for (int row = 0; row < NODES_SIDE; row++)
        for (int column = 0; column < NODES_SIDE; column++) {
            const int p = node_at(column, row);
            const struct between in = between_samples(&wide, n, column, row, p);
            if (in.i < squares->left || in.i >= squares->right || in.j < squares->top ||
                in.j >= squares->bottom)
                continue;
            const struct between at = between_samples(&f, n, column, row, p);
            out[p] = bilinear(samples + at.j * f.width + at.i, f.width, at.x, at.y);
        }
}

/* Whether a sample of INPUT is above 0. */
static bool has_some(const struct place *b, const struct farlands_grid *grid,
                     enum drainage_input input)
{
    bool some = false;
    for (int k = 0; k < grid->width * grid->height; k++)
        some |= drainage_samples_of(b->d, input)[k] > 0;
    return some;
}

/* The envelope is sampled finely where there may be a coast, and half as finely where water runs
 * over it. The other inputs change slowly: their samples are this many cells apart. */
enum { BROAD = 8, HALF = 2 };

int drainage_looks_like_sea(struct drainage *d, int level, int64_t i, int64_t j, bool *out)
{
    const struct place b = {d, &d->lattice[level], i, j};
    const struct farlands_grid broad = place_samples(&b, BROAD);
    const int err = ask(&b, &broad, DRAINAGE_ENVELOPE, DRAINAGE_ENVELOPE);
    const float *envelope = drainage_samples_of(d, DRAINAGE_ENVELOPE);
    *out = !err;
    for (int k = 0; !err && k < broad.width * broad.height; k++)
        *out &= envelope[k] <= (float)d->params.base;
    return err;
}

int drainage_find_inputs(struct drainage *d, int level, bool builds, bool lakes, int64_t i,
                         int64_t j)
{
    const struct place b = {d, &d->lattice[level], i, j};
    const struct farlands_grid broad = place_samples(&b, BROAD);
    struct nodes *n = d->nodes;
    if (broad.width > BROAD_SIDE || broad.height > BROAD_SIDE)
        return -ERANGE;
    int err = ask(&b, &broad, 0,
                  lakes    ? DRAINAGE_LAKES
                  : builds ? DRAINAGE_JUNCTION
                           : DRAINAGE_TOP);
    if (err)
        return err;
    const struct squares all = {0, broad.width - 1, 0, broad.height - 1};
    read_inputs(&b, &broad);
    n->has_ice = builds && has_some(&b, &broad, DRAINAGE_ICE);
    if (n->has_ice)
        read_input(&b, &broad, &all, &broad, DRAINAGE_ICE, n->ice);
    n->turns = builds && has_some(&b, &broad, DRAINAGE_JUNCTION);
    if (n->turns)
        read_input(&b, &broad, &all, &broad, DRAINAGE_JUNCTION, n->junction);
    if (lakes)
        read_input(&b, &broad, &all, &broad, DRAINAGE_LAKES, n->lakes);
    const struct squares coast =
        builds ? find_coast(drainage_samples_of(d, DRAINAGE_ENVELOPE), &broad, n->base) : all;
    if (coast.left < coast.right) {
        const struct farlands_grid fine = refine(&broad, &coast, builds ? BROAD : BROAD / HALF);
        err = ask(&b, &fine, DRAINAGE_ENVELOPE, DRAINAGE_ENVELOPE);
        if (!err)
            read_input(&b, &broad, &coast, &fine, DRAINAGE_ENVELOPE, n->envelope);
    }
    for (int p = NODES_FIRST; p < NODES_END; p++)
        n->kind[p] = n->envelope[p] <= n->base ? NODE_SEA : NODE_PLAIN;
    return err;
}
