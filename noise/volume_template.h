/*
 * Perlin noise in three dimensions over a box, row by row, in double. Part of
 * kernel_template.h. As in a plane, each lattice row (of two in each of two
 * slices) is interpolated along x first, and a sample is what dimensions.c
 * computes for a single point, in the same order.
 */

/* Indices of N corners in the lattice row ROW of the slice SLICE. */
static void volume_indices(const struct farlands_terrain *terrain, const struct octave *octave,
                           struct axis_hash column, int64_t row, int64_t slice, int n,
                           uint32_t *restrict index)
{
    const uint32_t *restrict p = terrain->permutation;
    if (terrain->hash == FARLANDS_MIX64) {
        const uint64_t joined = lattice_join(lattice_axis(row, octave->key[AXIS_Y]),
                                             lattice_axis(slice, octave->key[AXIS_Z]));
        row_indices(terrain, column, (struct row_hash){(uint32_t)joined, (uint32_t)(joined >> 32)},
                    n, index);
        return;
    }
    const uint32_t y = (uint32_t)row, z = (uint32_t)slice + octave->salt;
    for (int i = 0; i < n; i++)
        index[i] = p[(p[(p[column.low[i] & 255] + y) & 255] + z) & 255];
}

static void gradients_3d_at(const uint32_t *index, int n, float *x, float *y, float *z)
{
    for (int i = 0; i < n; i += LANES) {
        const vu h = load_integers(index + i) & 31;
        narrow_store(x + i, lookup_32(gradients_3d[AXIS_X], h));
        narrow_store(y + i, lookup_32(gradients_3d[AXIS_Y], h));
        narrow_store(z + i, lookup_32(gradients_3d[AXIS_Z], h));
    }
}

/* The lines of one lattice row at N samples: along, and across in y and in z. */
static const double (*volume_line(const struct farlands_terrain *terrain, struct broad_scratch *s,
                                  struct line_work *w, int64_t row, int64_t slice, int n))[CHUNK]
{
    const struct lattice *lattice = &s->lattice;
    bool known;
    double(*line)[CHUNK] =
        s->line + slot_lines(FARLANDS_PERLIN) * find_slot(&s->slots, row, slice, &known);
    struct axis_hash columns = {s->lattice.low, s->lattice.high};

    if (known)
        return (const double(*)[CHUNK])line;
    if (s->octave->cells)
        row = wrapped(row, s->octave->cells);
    if (lattice->dense) {
        const int count = whole_steps(lattice->count);
        volume_indices(terrain, s->octave, columns, row, slice, count, w->index);
        gradients_3d_at(w->index, count, w->x, w->y, w->z);
    }
    for (int side = 0; side < 2; side++) {
        if (lattice->dense) {
            expand(lattice, w->x, side, n, w->side_x[side]);
            expand(lattice, w->y, side, n, w->side_y[side]);
            expand(lattice, w->z, side, n, w->side_z[side]);
            continue;
        }
        volume_indices(terrain, s->octave, columns, row, slice, n, w->index);
        gradients_3d_at(w->index, n, w->side_x[side], w->side_y[side], w->side_z[side]);
        columns.low += CHUNK;
        columns.high += CHUNK;
    }
    for (int i = 0; i < n; i++) {
        const double q0 = s->q_x[0][i], q1 = s->q_x[1][i];
        line[0][i] = fma(s->p_x[1][i], w->side_x[1][i], s->p_x[0][i] * w->side_x[0][i]);
        line[1][i] = fma(q1, w->side_y[1][i], q0 * w->side_y[0][i]);
        line[2][i] = fma(q1, w->side_z[1][i], q0 * w->side_z[0][i]);
    }
    return (const double(*)[CHUNK])line;
}

/* One octave's slice: its cell, and the weights of its corners. */
struct slice {
    int64_t cell;
    double p[2], q[2];
};

static struct slice slice_at(const struct farlands_terrain *terrain, const struct octave *octave,
                             int64_t z)
{
    const struct lattice_place place = lattice_place(z + octave->shift[AXIS_Z], octave->wavelength);
    struct slice slice = {.cell = place.cell};
    broad_weigh_point(terrain->fade, exact_double(place.rest) * octave->inverse, 1, slice.p,
                      slice.q);
    return slice;
}

/* Add one octave to row J. */
static void volume_row(const struct farlands_terrain *terrain, struct broad_scratch *s,
                       struct line_work *work, const struct slice *slice, int j, int n,
                       double *restrict sum)
{
    for (int k = 0; k < 2; k++)
        for (int side = 0; side < 2; side++) {
            const double(*line)[CHUNK] =
                volume_line(terrain, s, work, s->rows.cell[j] + side, slice->cell + k, n);
            const double *restrict x = line[0], *restrict y = line[1], *restrict z = line[2];
            const double along = s->weight[side][j] * slice->q[k];
            const double across_y = s->weight[side + 2][j] * slice->q[k];
            const double across_z = s->weight[side][j] * slice->p[k];
            for (int i = 0; i < n; i++)
                sum[i] = fma(across_z, z[i], fma(across_y, y[i], fma(along, x[i], sum[i])));
        }
}

static void volume_octaves(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                           const struct slice *slices, int j, int n)
{
    struct sums *sums = scratch->sums;
    double *noise = sums[1].broad;

    broad_fill(sums->broad, 0, n);
    if (is_sum(terrain->fractal)) {
        for (int k = terrain->octaves - 1; k >= 0; k--)
            volume_row(terrain, &scratch->octave[k].broad, &scratch->line, &slices[k], j, n,
                       sums->broad);
        return;
    }
    broad_fill(sums->broad_weight, 1, n);
    for (int k = 0; k < terrain->octaves; k++) {
        broad_fill(noise, 0, n);
        volume_row(terrain, &scratch->octave[k].broad, &scratch->line, &slices[k], j, n, noise);
        broad_join(terrain, &terrain->octave[k], 1, n, noise, sums->broad, sums->broad_weight);
    }
}

/* COLUMNS columns from column I on, all rows and slices. */
static void volume_chunk(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                         const struct farlands_box *box, int64_t i, int columns, float *out)
{
    const double scale = fractal_scale(terrain), shift = fractal_shift(terrain);
    const int n = whole_steps(columns);
    struct slice slices[FARLANDS_MAX_OCTAVES];

    for (int k = 0; k < terrain->octaves; k++)
        broad_begin_columns(terrain, FARLANDS_PERLIN, &scratch->octave[k].broad,
                            box->x + i * box->step, box->step, n);
    for (int64_t top = 0; top < box->height; top += CHUNK) {
        const int height = box->height - top < CHUNK ? (int)(box->height - top) : CHUNK;
        for (int k = 0; k < terrain->octaves; k++)
            broad_begin_rows(terrain, FARLANDS_PERLIN, &scratch->octave[k].broad,
                             box->y + top * box->step, box->step, whole_steps(height));
        for (int layer = 0; layer < box->depth; layer++) {
            for (int k = 0; k < terrain->octaves; k++)
                slices[k] = slice_at(terrain, &terrain->octave[k], box->z + layer * box->step);
            for (int j = 0; j < height; j++) {
                float *row =
                    out +
                    ((size_t)layer * (size_t)box->height + (size_t)(top + j)) * (size_t)box->width +
                    (size_t)i;
                const double *sum = scratch->sums->broad;
                volume_octaves(terrain, scratch, slices, j, n);
                for (int c = 0; c < columns; c++)
                    row[c] = (float)fma(scale, sum[c], shift);
            }
        }
    }
}

static void volume(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                   const struct farlands_box *box, float *out)
{
    for (int k = 0; k < terrain->octaves; k++) {
        const struct octave *octave = &terrain->octave[k];
        const double share = octave->amplitude / terrain->amplitude;
        scratch->octave[k].broad.octave = octave;
        scratch->octave[k].broad.amplitude = is_sum(terrain->fractal) ? share : 1;
    }
    for (int64_t i = 0; i < box->width; i += CHUNK) {
        const int columns = box->width - i < CHUNK ? (int)(box->width - i) : CHUNK;
        volume_chunk(terrain, scratch, box, i, columns, out);
    }
}
