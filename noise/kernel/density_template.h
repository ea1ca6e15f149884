/*
 * Density over a box. Part of kernel_template.h. Heights are those of a grid, once for all slices.
 * Each slice of a noise is a plane: with p and q of the slice as those of rows and columns are,
 * its lattice row has, from the lines x, y, z of the two lattice slices around it,
 *
 *     along = q0 x0 + q1 x1 + p0 z0 + p1 z1     across = q0 y0 + q1 y1
 *
 * so that a sample is four multiply-adds an octave here, too, in the order of volume.c. A noise is
 * evaluated only where the formula looks at it.
 */

/* The lines of one lattice row for slice LAYER of the box, whose place is s->slice. */
static const float (*folded_lines(const struct farlands_terrain *terrain, struct space_scratch *s,
                                  struct line_work *work, int64_t row, int layer, int n))[CHUNK]
{
    const struct narrow_slice *slice = &s->slice;
    bool known;
    float(*fold)[CHUNK] = s->fold + 2 * find_slot(&s->folded, row, layer, &known);

    if (known)
        return (const float(*)[CHUNK])fold;
    const float(*low)[CHUNK] = narrow_space_line(terrain, &s->narrow, work, row, slice->cell, n);
    const float(*high)[CHUNK] =
        narrow_space_line(terrain, &s->narrow, work, row, slice->cell + 1, n);
    const float p0 = slice->p[0], p1 = slice->p[1], q0 = slice->q[0], q1 = slice->q[1];
    for (int i = 0; i < n; i++) {
        const float along = fmaf(q1, high[0][i], q0 * low[0][i]);
        fold[0][i] = fmaf(p1, high[2][i], fmaf(p0, low[2][i], along));
        fold[1][i] = fmaf(q1, high[1][i], q0 * low[1][i]);
    }
    return (const float(*)[CHUNK])fold;
}

/* Of rows J to J + ROWS - 1. */
static void space_terms(const struct farlands_terrain *terrain, struct space_scratch *s,
                        struct line_work *work, int layer, int j, int rows, int n,
                        struct narrow_terms *t)
{
    const int64_t *row = s->narrow.rows.cell + j;
    t->weight = &s->narrow.weight[0][j];
    t->shared = row[0] == row[rows - 1];
    for (int r = 0; r < (t->shared ? 1 : rows); r++) {
        const float(*above)[CHUNK] = folded_lines(terrain, s, work, row[r], layer, n);
        const float(*below)[CHUNK] = folded_lines(terrain, s, work, row[r] + 1, layer, n);
        t->line[r][0] = above[0];
        t->line[r][1] = below[0];
        t->line[r][2] = above[1];
        t->line[r][3] = below[1];
    }
}

/* A noise whose OCTAVES' scratch begins at S, on ROWS rows from J on, no more than a band. */
static void sum_space(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                      union octave_scratch *s, int octaves, int layer, int j, int rows, int n,
                      float (*sum)[CHUNK])
{
    struct narrow_set *sets = scratch->sets.narrow;
    int count = 0;

    for (int top = 0; top < rows; top += sets[count++].rows) {
        struct narrow_set *set = &sets[count];
        set->rows = rows - top < ROWS ? 1 : ROWS;
        for (int r = 0; r < set->rows; r++)
            set->sum[r] = sum[top + r];
        for (int k = 0; k < octaves; k++)
            space_terms(terrain, &s[octaves - 1 - k].space, &scratch->line, layer, j + top,
                        set->rows, n, &set->terms[k]);
    }
    narrow_sum_sets(sets, count, octaves, FARLANDS_PERLIN, n);
}

/* --- What a box needs ------------------------------------------------------------------------ */

/* Which noises, a bit each, the formula looks at where the surface is LOW to HIGH blocks above. */
static unsigned spaces_wanted(const struct density *v, float low, float high)
{
    const bool bulges =
        v->noise[DENSITY_OVERHANGS].octaves > 0 && low < v->amplitude && high > -v->amplitude;
    unsigned wanted = bulges ? 1u << DENSITY_OVERHANGS : 0;
    /* A bulge may lift what lies low. */
    if (v->noise[DENSITY_CAVERNS].octaves > 0 && (bulges || high > v->caverns.from))
        wanted |= 1u << DENSITY_CAVERNS;
    if (v->noise[DENSITY_TUNNELS_A].octaves > 0 && (bulges || high > v->tunnels.from))
        wanted |= 1u << DENSITY_TUNNELS_A | 1u << DENSITY_TUNNELS_B;
    return wanted;
}

/* The lowest and the highest of ROWS rows. */
struct relief {
    float lowest, highest;
};

static struct relief relief_of(const float (*heights)[CHUNK], int rows, int n)
{
    struct relief relief = {heights[0][0], heights[0][0]};
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < n; i++) {
            relief.lowest = heights[r][i] < relief.lowest ? heights[r][i] : relief.lowest;
            relief.highest = heights[r][i] > relief.highest ? heights[r][i] : relief.highest;
        }
    return relief;
}

/* Columns, rows and slices that are worked on together. */
struct block {
    int64_t x, y;
    int columns, rows, n; /* n: columns in whole steps */
    union octave_scratch *first[DENSITY_NOISES];
};

static double altitude(const struct farlands_box *box, int layer)
{
    return (double)(box->z + layer * box->step) / (double)FARLANDS_UNIT;
}

/* Have the lattices of the noises that a block with RELIEF looks at. */
static void begin_spaces(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                         const struct farlands_box *box, struct relief relief, struct block *block)
{
    const struct density *v = &terrain->density;
    const unsigned wanted =
        spaces_wanted(v, density_below(relief.lowest, altitude(box, box->depth - 1)),
                      density_below(relief.highest, altitude(box, 0)));
    union octave_scratch *next = scratch->octave;

    for (int m = 0; m < DENSITY_NOISES; m++) {
        block->first[m] = next;
        for (int k = 0; wanted >> m & 1 && k < v->noise[m].octaves; k++) {
            struct space_scratch *s = &next++->space;
            s->octave = &v->noise[m].octave[k];
            s->narrow.octave = &s->octave->plane;
            s->narrow.amplitude = s->octave->share;
            narrow_begin_columns(terrain, FARLANDS_PERLIN, &s->narrow, block->x, box->step,
                                 block->n);
            narrow_begin_rows(terrain, FARLANDS_PERLIN, &s->narrow, block->y, box->step,
                              whole_steps(block->rows));
            s->narrow.slots.count = SLOTS;
            s->folded = (struct slots){.count = SLOTS};
        }
    }
}

/* Rows J to J + ROWS - 1 of slice LAYER of the noises WANTED: scratch->volume.noise. */
static void sum_spaces(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       const struct farlands_box *box, const struct block *block, unsigned wanted,
                       int layer, int j, int rows)
{
    const int64_t z = box->z + layer * box->step;
    for (int m = 0; m < DENSITY_NOISES; m++) {
        const int octaves = terrain->density.noise[m].octaves;
        if (!(wanted >> m & 1))
            continue;
        for (int k = 0; k < octaves; k++) {
            struct space_scratch *s = &block->first[m][k].space;
            s->slice = narrow_slice_at(terrain->fade, z + s->octave->plane.shift[AXIS_Z],
                                       s->octave->height, s->octave->inverse_height);
        }
        sum_space(terrain, scratch, block->first[m], octaves, layer, j, rows, block->n,
                  scratch->volume.noise[m]);
    }
}

/* --- From noise to density ------------------------------------------------------------------- */

/* One row: N densities at altitude Z. NOISE[m]: of those WANTED. */
static void density_row(const struct density *v, unsigned wanted, const float *restrict height,
                        double z, const float *const noise[DENSITY_NOISES], int n, float *restrict density)
{
    ALIGNED float ground[CHUNK];
    const float *restrict a = noise[DENSITY_TUNNELS_A], *restrict b = noise[DENSITY_TUNNELS_B];
    const float *restrict bulge = noise[DENSITY_OVERHANGS], *restrict cavern = noise[DENSITY_CAVERNS];

    for (int i = 0; i < n; i++)
        ground[i] = density_below(height[i], z);
    if (wanted & 1u << DENSITY_OVERHANGS)
        for (int i = 0; i < n; i++)
            ground[i] = density_ground(v, ground[i], bulge[i]);
    memcpy(density, ground, (size_t)n * sizeof *ground);
    if (wanted & 1u << DENSITY_CAVERNS)
        for (int i = 0; i < n; i++)
            density[i] = density_carve(&v->caverns, ground[i], density_cavern(&v->caverns, cavern[i]),
                                      density[i]);
    if (wanted & 1u << DENSITY_TUNNELS_A)
        for (int i = 0; i < n; i++)
            density[i] = density_carve(&v->tunnels, ground[i],
                                      density_tunnel(&v->tunnels, a[i], b[i]), density[i]);
}

/* Rows J to J + ROWS - 1 of BLOCK in all slices; OUT: the first of them in the first slice. */
static void density_band(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                         const struct farlands_box *box, const struct block *block, int j, int rows,
                         float *out)
{
    const float(*heights)[CHUNK] = (const float(*)[CHUNK])scratch->volume.heights + j;
    const struct relief relief = relief_of(heights, rows, block->n);
    const size_t slice = (size_t)box->width * (size_t)box->height;

    for (int layer = 0; layer < box->depth; layer++) {
        const double z = altitude(box, layer);
        const unsigned wanted = spaces_wanted(&terrain->density, density_below(relief.lowest, z),
                                              density_below(relief.highest, z));
        sum_spaces(terrain, scratch, box, block, wanted, layer, j, rows);
        for (int r = 0; r < rows; r++) {
            ALIGNED float density[CHUNK];
            const float *noise[DENSITY_NOISES];
            for (int m = 0; m < DENSITY_NOISES; m++)
                noise[m] = scratch->volume.noise[m][r];
            density_row(&terrain->density, wanted, heights[r], z, noise, block->n, density);
            memcpy(out + (size_t)layer * slice + (size_t)r * (size_t)box->width, density,
                   (size_t)block->columns * sizeof *density);
        }
    }
}

/* The finest cells' width, of all noises. */
static int64_t finest_space(const struct density *v)
{
    int64_t finest = FARLANDS_MAX_VOLUME_WAVELENGTH;
    for (int m = 0; m < DENSITY_NOISES; m++) {
        const int octaves = v->noise[m].octaves;
        if (octaves > 0 && v->noise[m].octave[octaves - 1].plane.wavelength < finest)
            finest = v->noise[m].octave[octaves - 1].plane.wavelength;
    }
    return finest;
}

static void density_block(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                          const struct farlands_box *box, struct block *block, float *out)
{
    float(*heights)[CHUNK] = scratch->volume.heights;
    const struct farlands_grid grid = {block->x, block->y, box->step, block->n, block->rows, false};
    const int band = band_rows(finest_space(&terrain->density), box->step);

    heights_grid(terrain, scratch, &grid, heights[0], CHUNK);
    begin_spaces(terrain, scratch, box,
                 relief_of((const float(*)[CHUNK])heights, block->rows, block->n), block);
    for (int j = 0, rows; j < block->rows; j += rows) {
        rows = block->rows - j < band ? block->rows - j : band;
        density_band(terrain, scratch, box, block, j, rows, out + (size_t)j * (size_t)box->width);
    }
}

static void density(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out)
{
    for (int64_t i = 0; i < box->width; i += CHUNK)
        for (int64_t j = 0; j < box->height; j += TALL_ROWS) {
            struct block block = {.x = box->x + i * box->step, .y = box->y + j * box->step};
            block.columns = box->width - i < CHUNK ? (int)(box->width - i) : CHUNK;
            block.rows = box->height - j < TALL_ROWS ? (int)(box->height - j) : TALL_ROWS;
            block.n = whole_steps(block.columns);
            density_block(terrain, scratch, box, &block,
                          out + (size_t)j * (size_t)box->width + (size_t)i);
        }
}
