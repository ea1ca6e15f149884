/*
 * terrain_density: density over a block of a box, in float. Included by kernel_template.h.
 *
 * A block has one grid of heights, computed once for all slices. Within a slice, that is at one
 * altitude, each noise is like one in a plane. With the slice's corner weights p and q, and the
 * lines x, y, z in the two lattice slices around it, a lattice row has
 *
 *     along = q0 x0 + q1 x1 + p0 z0 + p1 z1     across = q0 y0 + q1 y1
 *
 * so that here, too, a sample is four multiply-adds per octave, in the same order as in
 * point_noise.c's add_space_octave. A noise is evaluated only if the formula needs it somewhere in
 * the rows at hand.
 */
#ifndef KERNEL
#error "density_template.h: include kernel_template.h instead"
#endif

/* The evaluation of a block. */
struct density_run {
    const struct density_block *block;
    struct farlands_scratch *scratch;
    int n;                                       /* columns in whole KERNEL_STEPs */
    union octave_scratch *first[DENSITY_NOISES]; /* each noise's first octave */
};

static double altitude(const struct farlands_box *box, int layer)
{
    return (double)(box->z + layer * box->step) / (double)FARLANDS_UNIT;
}

/* --- Noise in a slice --- */

/* The lines of one lattice row for slice LAYER in the box, at s->slice. */
static float (*folded_lines(struct space_scratch *s, int64_t row, int layer))[KERNEL_CHUNK]
{
    const struct narrow_slice *slice = &s->slice;
    bool known;
    float(*fold)[KERNEL_CHUNK] = s->fold + 2 * find_slot(&s->folded, row, layer, &known);

    if (known)
        return fold;
    float(*low)[KERNEL_CHUNK] = narrow_space_line(&s->narrow, row, slice->cell);
    float(*high)[KERNEL_CHUNK] = narrow_space_line(&s->narrow, row, slice->cell + 1);
    const float p0 = slice->p[0], p1 = slice->p[1], q0 = slice->q[0], q1 = slice->q[1];
    for (int i = 0, n = s->narrow.n; i < n; i++) {
        const float along = fmaf(q1, high[0][i], q0 * low[0][i]);
        fold[0][i] = fmaf(p1, high[2][i], fmaf(p0, low[2][i], along));
        fold[1][i] = fmaf(q1, high[1][i], q0 * low[1][i]);
    }
    return fold;
}

/* The terms for rows J to J + ROWS - 1. */
static void space_terms(struct space_scratch *s, int layer, int j, int rows, struct narrow_terms *t)
{
    const int64_t *row = s->narrow.rows.cell + j;
    t->weight = &s->narrow.weight[0][j];
    t->shared = row[0] == row[rows - 1];
    for (int r = 0; r < (t->shared ? 1 : rows); r++) {
        float(*above)[KERNEL_CHUNK] = folded_lines(s, row[r], layer);
        narrow_set_terms(t, r, above, folded_lines(s, row[r] + 1, layer));
    }
}

/* Noise WHICH in slice LAYER, on ROWS rows from J on, at most a band, into density.noise[which]. */
static void sum_space(const struct density_run *run, enum density_noise which, int layer, int j,
                      int rows)
{
    struct farlands_scratch *scratch = run->scratch;
    const int64_t z = run->block->box->z + layer * run->block->box->step;
    const int octaves = run->block->density->noise[which].octaves;
    union octave_scratch *first = run->first[which];
    struct narrow_set *sets = scratch->work.sets.narrow;
    int count = 0;

    for (int k = 0; k < octaves; k++) {
        struct space_scratch *s = &first[k].space;
        s->slice =
            narrow_slice_at(&s->narrow.source, z, s->octave->height, s->octave->inverse_height);
    }
    for (int top = 0; top < rows; top += sets[count++].rows) {
        struct narrow_set *set = &sets[count];
        set->rows = rows - top < KERNEL_SET_ROWS ? 1 : KERNEL_SET_ROWS;
        for (int r = 0; r < set->rows; r++)
            set->sum[r] = scratch->density.noise[which][top + r];
        for (int k = 0; k < octaves; k++) /* the finest first */
            space_terms(&first[octaves - 1 - k].space, layer, j + top, set->rows, &set->terms[k]);
    }
    narrow_sum_sets(sets, count, octaves, basis_of(FARLANDS_PERLIN).lines, run->n);
}

/* --- Which noises are needed --- */

/* One bit for each noise that the formula needs if s lies within LOW .. HIGH. */
static unsigned noises_needed(const struct density *d, float low, float high)
{
    const bool bulges =
        d->noise[DENSITY_OVERHANGS].octaves > 0 && low < d->amplitude && high > -d->amplitude;
    unsigned needed = bulges ? 1u << DENSITY_OVERHANGS : 0;
    /* A bulge may raise ground from below "from" to above. */
    if (d->noise[DENSITY_CAVERNS].octaves > 0 && (bulges || high > d->caverns.from))
        needed |= 1u << DENSITY_CAVERNS;
    if (d->noise[DENSITY_TUNNELS_A].octaves > 0 && (bulges || high > d->tunnels.from))
        needed |= 1u << DENSITY_TUNNELS_A | 1u << DENSITY_TUNNELS_B;
    return needed;
}

/* The lowest and the highest among some heights. */
struct relief {
    float lowest, highest;
};

static struct relief relief_of(float (*heights)[KERNEL_CHUNK], int rows, int n)
{
    struct relief relief = {heights[0][0], heights[0][0]};
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < n; i++) {
            relief.lowest = heights[r][i] < relief.lowest ? heights[r][i] : relief.lowest;
            relief.highest = heights[r][i] > relief.highest ? heights[r][i] : relief.highest;
        }
    return relief;
}

/* Prepare the octaves of all noises that a block with RELIEF needs. */
static void begin_noises(struct density_run *run, struct relief relief)
{
    struct farlands_scratch *scratch = run->scratch;
    const struct farlands_box *box = run->block->box;
    const struct density *d = run->block->density;
    const unsigned needed =
        noises_needed(d, density_below(relief.lowest, altitude(box, box->depth - 1)),
                      density_below(relief.highest, altitude(box, 0)));
    union octave_scratch *next = scratch->octave;

    for (int m = 0; m < DENSITY_NOISES; m++) {
        run->first[m] = next;
        for (int k = 0; needed >> m & 1 && k < d->noise[m].octaves; k++) {
            struct space_scratch *s = &next++->space;
            struct narrow_octave *narrow = &s->narrow;
            s->octave = &d->noise[m].octave[k];
            narrow->source = (struct octave_source){run->block->noise, &s->octave->plane,
                                                    FARLANDS_PERLIN, USE_VALUES, 0};
            narrow->amplitude = s->octave->share;
            narrow->work = &scratch->work.line;
            narrow_begin_columns(narrow, (struct coordinates){run->block->x, box->step, NULL},
                                 run->n);
            narrow_begin_rows(narrow, (struct coordinates){run->block->y, box->step, NULL},
                              whole_steps(run->block->rows));
            narrow->slots.count = KERNEL_SLOTS;
            s->folded = (struct slots){.count = KERNEL_SLOTS};
        }
    }
}

/* --- From noise to density --- */

/* N densities at altitude Z. NOISE[m] is there for each bit in NEEDED. */
static void density_row(const struct density *d, unsigned needed, const float *restrict height,
                        const struct shelf *restrict shelf, double z,
                        const float *const noise[DENSITY_NOISES], int n, float *restrict density)
{
    KERNEL_ALIGNED float ground[KERNEL_CHUNK], cave[KERNEL_CHUNK];
    const float *restrict a = noise[DENSITY_TUNNELS_A], *restrict b = noise[DENSITY_TUNNELS_B];
    const float *restrict bulge = noise[DENSITY_OVERHANGS];
    const float *restrict cavern = noise[DENSITY_CAVERNS];

    for (int i = 0; i < n; i++)
        ground[i] = density_below(height[i], z);
    if (needed & 1u << DENSITY_OVERHANGS)
        for (int i = 0; i < n; i++)
            ground[i] = density_ground(d, ground[i], bulge[i]);
    for (int i = 0; i < n; i++)
        cave[i] = INFINITY;
    if (needed & 1u << DENSITY_CAVERNS)
        for (int i = 0; i < n; i++)
            cave[i] = density_open(&d->caverns, ground[i], density_cavern(&d->caverns, cavern[i]));
    if (needed & 1u << DENSITY_TUNNELS_A)
        for (int i = 0; i < n; i++)
            cave[i] = density_join(
                d, cave[i],
                density_open(&d->tunnels, ground[i], density_tunnel(&d->tunnels, a[i], b[i])));
    for (int i = 0; i < n; i++)
        density[i] = cave[i] < ground[i] ? cave[i] : ground[i];
    for (int i = 0; d->cell && i < n; i++)
        density[i] = ledge_join(density[i], shelf->level[i], shelf->bend[i],
                                density_below(shelf->middle[i], z));
}

/* Rows J to J + ROWS - 1 in all slices. OUT: where these rows begin in the first slice. */
static void density_band(const struct density_run *run, int j, int rows, float *out)
{
    struct farlands_scratch *scratch = run->scratch;
    const struct farlands_box *box = run->block->box;
    const struct density *d = run->block->density;
    float(*heights)[KERNEL_CHUNK] = scratch->density.heights + j;
    const struct relief relief = relief_of(heights, rows, run->n);
    const size_t slice = (size_t)box->width * (size_t)box->height;

    for (int layer = 0; layer < box->depth; layer++) {
        const double z = altitude(box, layer);
        const unsigned needed =
            noises_needed(d, density_below(relief.lowest, z), density_below(relief.highest, z));
        for (int m = 0; m < DENSITY_NOISES; m++)
            if (needed >> m & 1)
                sum_space(run, (enum density_noise)m, layer, j, rows);
        for (int r = 0; r < rows; r++) {
            KERNEL_ALIGNED float density[KERNEL_CHUNK];
            const float *noise[DENSITY_NOISES];
            for (int m = 0; m < DENSITY_NOISES; m++)
                noise[m] = scratch->density.noise[m][r];
            density_row(d, needed, heights[r], &scratch->density.shelf[j + r], z, noise, run->n,
                        density);
            memcpy(out + (size_t)layer * slice + (size_t)r * (size_t)box->width, density,
                   (size_t)run->block->columns * sizeof *density);
        }
    }
}

/* The finest cells' width in all noises. */
static int64_t finest_space(const struct density *d)
{
    int64_t finest = FARLANDS_MAX_VOLUME_WAVELENGTH;
    for (int m = 0; m < DENSITY_NOISES; m++) {
        const int octaves = d->noise[m].octaves;
        if (octaves > 0 && d->noise[m].octave[octaves - 1].plane.wavelength < finest)
            finest = d->noise[m].octave[octaves - 1].plane.wavelength;
    }
    return finest;
}

static void density(const struct density_block *block, struct farlands_scratch *scratch, float *out)
{
    struct density_run run = {block, scratch, whole_steps(block->columns), {NULL}};
    const int band = band_rows(finest_space(block->density), block->box->step);

    begin_noises(&run, relief_of(scratch->density.heights, block->rows, run.n));
    for (int j = 0, rows; j < block->rows; j += rows) {
        rows = block->rows - j < band ? block->rows - j : band;
        density_band(&run, j, rows, out + (size_t)j * (size_t)block->box->width);
    }
}
