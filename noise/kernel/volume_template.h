/*
 * Perlin noise in three dimensions over a box, row by row, in double. Part of
 * kernel_template.h. As in a plane, each lattice row (of two in each of two
 * slices) is interpolated along x first, and a sample is what dimensions.c
 * computes for a single point, in the same order.
 */

static struct broad_slice slice_of(const struct farlands_terrain *terrain,
                                   const struct octave *octave, int64_t z)
{
    return broad_slice_at(terrain->fade, z + octave->shift[AXIS_Z], octave->wavelength,
                          octave->inverse);
}

/* Add one octave to row J. */
static void volume_row(const struct farlands_terrain *terrain, struct broad_scratch *s,
                       struct line_work *work, const struct broad_slice *slice, int j, int n,
                       double *restrict sum)
{
    for (int k = 0; k < 2; k++)
        for (int side = 0; side < 2; side++) {
            const double(*line)[CHUNK] =
                broad_space_line(terrain, s, work, s->rows.cell[j] + side, slice->cell + k, n);
            const double *restrict x = line[0], *restrict y = line[1], *restrict z = line[2];
            const double along = s->weight[side][j] * slice->q[k];
            const double across_y = s->weight[side + 2][j] * slice->q[k];
            const double across_z = s->weight[side][j] * slice->p[k];
            for (int i = 0; i < n; i++)
                sum[i] = fma(across_z, z[i], fma(across_y, y[i], fma(along, x[i], sum[i])));
        }
}

static void volume_octaves(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                           const struct broad_slice *slices, int j, int n)
{
    struct sums *sums = scratch->sums;
    double *noise = sums[1].broad;

    broad_fill(sums->broad, 0, n);
    if (fractal_is_sum(terrain)) {
        for (int k = terrain->octaves - 1; k >= 0; k--)
            volume_row(terrain, &scratch->octave[k].broad, &scratch->line, &slices[k], j, n,
                       sums->broad);
        return;
    }
    broad_fill(sums->broad_weight, 1, n);
    for (int k = 0; k < terrain->octaves; k++) {
        broad_fill(noise, 0, n);
        volume_row(terrain, &scratch->octave[k].broad, &scratch->line, &slices[k], j, n, noise);
        broad_add_fractal(terrain, &terrain->octave[k], 1, n, noise, sums->broad, sums->broad_weight);
    }
}

/* COLUMNS columns from column I on, all rows and slices. */
static void volume_chunk(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                         const struct farlands_box *box, int64_t i, int columns, float *out)
{
    const double scale = fractal_scale(terrain), shift = fractal_shift(terrain);
    const int n = whole_steps(columns);
    struct broad_slice slices[FARLANDS_MAX_OCTAVES];

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
                slices[k] = slice_of(terrain, &terrain->octave[k], box->z + layer * box->step);
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
        scratch->octave[k].broad.amplitude = fractal_is_sum(terrain) ? share : 1;
    }
    for (int64_t i = 0; i < box->width; i += CHUNK) {
        const int columns = box->width - i < CHUNK ? (int)(box->width - i) : CHUNK;
        volume_chunk(terrain, scratch, box, i, columns, out);
    }
}
