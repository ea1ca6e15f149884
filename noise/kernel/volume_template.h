/*
 * terrain_volume: Perlin noise in three dimensions over a box, row by row, in double. Included by
 * kernel_template.h.
 *
 * As in a plane, each lattice row is interpolated along x first: two rows in each of the two
 * lattice slices around a sample. Operations and their order are the same as in point_noise.c's
 * add_octave.
 */
#ifndef KERNEL
#error "volume_template.h: include kernel_template.h instead"
#endif

/* Add one octave to row J. */
static void volume_row(struct broad_octave *s, const struct broad_slice *slice, int j,
                       double *restrict sum)
{
    const int n = s->n;
    for (int k = 0; k < 2; k++)
        for (int side = 0; side < 2; side++) {
            double(*line)[KERNEL_CHUNK] =
                broad_space_line(s, s->rows.cell[j] + side, slice->cell + k);
            const double *restrict x = line[0], *restrict y = line[1], *restrict z = line[2];
            const double along = s->weight[side][j] * slice->q[k];
            const double across_y = s->weight[side + 2][j] * slice->q[k];
            const double across_z = s->weight[side][j] * slice->p[k];
            for (int i = 0; i < n; i++)
                sum[i] = fma(across_z, z[i], fma(across_y, y[i], fma(along, x[i], sum[i])));
        }
}

/* All octaves on row J. The result is sums[0].broad; sums[1] is memory for this. */
static void volume_octaves(struct noise_run *run, const struct broad_slice *slices, int j)
{
    const struct noise *noise = run->noise;
    struct sums *sums = run->work->sums;
    double *value = sums[1].broad;
    const int n = run->n;

    broad_fill(sums->broad, 0, n);
    if (fractal_is_sum(noise)) {
        for (int k = noise->octaves - 1; k >= 0; k--)
            volume_row(&run->octave[k].broad, &slices[k], j, sums->broad);
        return;
    }
    broad_fill(sums->broad_weight, 1, n);
    for (int k = 0; k < noise->octaves; k++) {
        broad_fill(value, 0, n);
        volume_row(&run->octave[k].broad, &slices[k], j, value);
        broad_add_fractal(noise, &noise->octave[k], 1, n, value, sums->broad, sums->broad_weight);
    }
}

/* COLUMNS columns from column I on, all rows and slices. */
static void volume_chunk(struct noise_run *run, const struct farlands_box *box, int64_t i,
                         int columns, float *out)
{
    const struct noise *noise = run->noise;
    const double scale = fractal_scale(noise), shift = fractal_shift(noise);
    struct broad_slice slices[FARLANDS_MAX_OCTAVES];

    run->n = whole_steps(columns);
    for (int k = 0; k < noise->octaves; k++)
        broad_begin_columns(&run->octave[k].broad,
                            (struct coordinates){box->x + i * box->step, box->step, NULL}, run->n);
    for (int64_t top = 0; top < box->height; top += KERNEL_CHUNK) {
        const int height =
            box->height - top < KERNEL_CHUNK ? (int)(box->height - top) : KERNEL_CHUNK;
        for (int k = 0; k < noise->octaves; k++)
            broad_begin_rows(&run->octave[k].broad,
                             (struct coordinates){box->y + top * box->step, box->step, NULL},
                             whole_steps(height));
        for (int layer = 0; layer < box->depth; layer++) {
            for (int k = 0; k < noise->octaves; k++) {
                const struct octave_source *source = &run->octave[k].source;
                slices[k] = broad_slice_at(source, box->z + layer * box->step,
                                           source->octave->wavelength, source->octave->inverse);
            }
            for (int j = 0; j < height; j++) {
                const size_t line = (size_t)layer * (size_t)box->height + (size_t)(top + j);
                float *row = out + line * (size_t)box->width + (size_t)i;
                const double *sum = run->work->sums->broad;
                volume_octaves(run, slices, j);
                for (int c = 0; c < columns; c++)
                    row[c] = (float)fma(scale, sum[c], shift);
            }
        }
    }
}

static void volume(const struct noise *noise, struct farlands_scratch *scratch,
                   const struct farlands_box *box, float *out)
{
    struct noise_run *run = &scratch->run;
    run->noise = noise;
    run->work = &scratch->work;
    run->octave = scratch->octave;
    for (int k = 0; k < noise->octaves; k++) {
        const struct octave *octave = &noise->octave[k];
        struct broad_octave *s = &run->octave[k].broad;
        s->source = (struct octave_source){noise, octave, FARLANDS_PERLIN, USE_VALUES, 0};
        s->amplitude = fractal_is_sum(noise) ? octave->amplitude / noise->amplitude : 1;
        s->work = &run->work->line;
    }
    for (int64_t i = 0; i < box->width; i += KERNEL_CHUNK) {
        const int columns = box->width - i < KERNEL_CHUNK ? (int)(box->width - i) : KERNEL_CHUNK;
        volume_chunk(run, box, i, columns, out);
    }
}
