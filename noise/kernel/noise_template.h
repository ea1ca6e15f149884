/*
 * A noise over a chunk, a band of rows at a time: its octaves and their weights, the warp, and from
 * sums to values. Included by kernel_template.h, which lists the parameters.
 */
#ifndef KERNEL
#error "noise_template.h: include kernel_template.h instead"
#endif

static void begin_sums(struct sums *s, int n)
{
    narrow_fill(s->narrow, 0, n);
    broad_fill(s->broad, 0, n);
    broad_fill(s->broad_weight, 1, n);
}

/* The first narrow octave goes on with the last broad octave's weights. */
static void round_weights(struct sums *s, int n)
{
    for (int i = 0; i < n; i++)
        s->narrow_weight[i] = (float)s->broad_weight[i];
}

/* From sums to values: along CURVE, or the noise itself if CURVE is NULL. BROAD octaves are in
 * double. BIAS is added to the sum. */
static void finish(const struct noise *noise, int broad, const struct curve *curve, struct sums *s,
                   double bias, int n, float *restrict out)
{
    const double scale = fractal_scale(noise), shift = fractal_shift(noise) + bias;
    if (broad == 0) {
        if (curve)
            narrow_bend(curve, (float)scale, (float)shift, s->narrow, n, out);
        else
            for (int i = 0; i < n; i++)
                out[i] = fmaf((float)scale, s->narrow[i], (float)shift);
        return;
    }
    for (int i = 0; i < n; i++)
        s->broad[i] += (double)s->narrow[i];
    if (curve)
        broad_bend(curve, scale, shift, s->broad, n, out);
    else
        for (int i = 0; i < n; i++)
            out[i] = (float)fma(scale, s->broad[i], shift);
}

static void set_octave(struct noise_run *run, union octave_scratch *s, struct octave_source source,
                       bool broad, double amplitude)
{
    s->source = source;
    if (broad) {
        s->broad.amplitude = amplitude;
        s->broad.work = &run->work->line;
    } else {
        s->narrow.amplitude = (float)amplitude;
        s->narrow.work = &run->work->line;
    }
}

/* OCTAVE's weight for samples STEP units apart. */
static double limit_of(const struct noise_run *run, const struct octave *octave, int64_t step)
{
    return run->use == USE_GULLIES ? octave_gully_limit(octave, step)
                                   : octave_band_limit(octave, step);
}

/* Set the octaves with their amplitudes, and, under BAND_LIMIT, their weights for samples STEP
 * units apart. */
static void choose_octaves(struct noise_run *run, bool band_limit, int64_t step)
{
    const struct noise *noise = run->noise;
    const bool sum = fractal_is_sum(noise);
    run->bias = 0;
    run->broad = 0;
    for (int k = 0; k < noise->broad; k++)
        run->broad +=
            !(run->light && band_limit && octave_is_narrow_in_pictures(&noise->octave[k], step));
    for (int k = 0; k < noise->octaves; k++) {
        const struct octave *octave = &noise->octave[k];
        const double limit = band_limit ? limit_of(run, octave, step) : 1;
        const double share = noise->share[k];
        run->band_limit[k] = limit;
        run->bias += sum ? share * (1 - limit) * noise->moments.mean : 0;
        set_octave(run, &run->octave[k],
                   (struct octave_source){noise, octave, noise->basis, run->use, 0}, k < run->broad,
                   sum && run->use == USE_VALUES ? share * limit : 1);
    }
    for (int axis = 0; noise->warp != 0 && axis < 2; axis++)
        set_octave(run, &warp_octaves(run)[axis],
                   (struct octave_source){noise, &noise->warp_octave[axis], FARLANDS_PERLIN,
                                          USE_VALUES, 0},
                   octave_is_broad(&noise->warp_octave[axis]), 1);
}

static void begin_octave(union octave_scratch *s, bool broad, enum axis axis,
                         struct coordinates along, int n)
{
    const bool columns = axis == AXIS_X;
    if (broad && columns)
        broad_begin_columns(&s->broad, along, n);
    else if (broad)
        broad_begin_rows(&s->broad, along, n);
    else if (columns)
        narrow_begin_columns(&s->narrow, along, n);
    else
        narrow_begin_rows(&s->narrow, along, n);
}

/* Prepare N columns (AXIS_X) or rows (AXIS_Y) in all octaves. */
static void begin_axis(struct noise_run *run, enum axis axis, struct coordinates along, int n)
{
    for (int k = 0; k < run->noise->octaves; k++)
        if (run->band_limit[k] != 0)
            begin_octave(&run->octave[k], k < run->broad, axis, along, n);
    for (int i = 0; run->noise->warp != 0 && i < 2; i++)
        begin_octave(&warp_octaves(run)[i], octave_is_broad(&run->noise->warp_octave[i]), axis,
                     along, n);
}

/* The warp's displacement along AXIS on row J + R. */
static void displace_row(struct noise_run *run, int axis, int j, int r)
{
    union octave_scratch *octave = &warp_octaves(run)[axis];
    struct sums *s = &run->work->sums[r];
    struct displacement *d = &run->work->displacement[r][axis];
    if (octave_is_broad(octave->source.octave)) {
        broad_octave_row(&octave->broad, j + r, s->broad);
        broad_displace(run->noise, s->broad, run->n, d);
    } else {
        narrow_octave_row(&octave->narrow, j + r, s->narrow);
        narrow_displace(run->noise, s->narrow, run->n, d);
    }
}

/* The sums on ROWS rows from J on, at most a band. */
static void sum_rows(struct noise_run *run, int j, int rows)
{
    const struct noise *noise = run->noise;
    const int octaves = noise->octaves, broad = run->broad;
    for (int r = 0; noise->warp != 0 && r < rows; r++) {
        displace_row(run, AXIS_X, j, r);
        displace_row(run, AXIS_Y, j, r);
    }
    if (!fractal_is_sum(noise)) {
        for (int r = 0; r < rows; r++) {
            struct sums *s = &run->work->sums[r];
            begin_sums(s, run->n);
            broad_fractal_octaves(run, 0, broad, j, r, s->broad, s->broad_weight);
            round_weights(s, run->n);
            narrow_fractal_octaves(run, broad, octaves, j, r, s->narrow, s->narrow_weight);
        }
    } else if (is_scattered(run) || basis_of(noise->basis).method != BASIS_LINES) {
        narrow_sum_octaves(run, broad, octaves, j, rows);
        if (broad)
            broad_sum_octaves(run, 0, broad, j, rows);
    } else {
        narrow_sum_lines(run, broad, octaves, j, rows);
        if (broad)
            broad_sum_lines(run, 0, broad, j, rows);
    }
}

/* The finest wavelength that the band limit leaves. */
static int64_t finest_wavelength(const struct noise_run *run)
{
    int k = run->noise->octaves - 1;
    while (k > 0 && run->band_limit[k] == 0)
        k--;
    return run->noise->octave[k].wavelength;
}

static int noise_choose(struct noise_run *run, bool band_limit, int64_t step)
{
    choose_octaves(run, band_limit, step);
    return band_rows(finest_wavelength(run), step);
}

static void noise_begin(struct noise_run *run, const struct chunk *chunk)
{
    run->n = whole_steps(chunk->width);
    begin_axis(run, AXIS_X, chunk->x, run->n);
    begin_axis(run, AXIS_Y, chunk->y, whole_steps(chunk->height));
}

/* Displacements: UNITS times N values. */
static void move_row(const float *restrict value, double units, int n, struct displacement *d)
{
    for (int i = 0; i < n; i++) {
        const double moved = units * (double)value[i], whole = floor(moved);
        d->whole[i] = whole;
        d->fraction[i] = moved - whole;
    }
}

static void noise_band(struct noise_run *run, const struct curve *curve, const struct rows *move,
                       double units, int j, int rows, struct rows out)
{
    for (int axis = 0; move && axis < 2; axis++)
        for (int r = 0; r < rows; r++)
            move_row(move[axis].at + (size_t)r * move[axis].stride, units, run->n,
                     &run->work->displacement[r][axis]);
    sum_rows(run, j, rows);
    for (int r = 0; r < rows; r++)
        finish(run->noise, run->broad, curve, &run->work->sums[r], run->bias, run->n,
               out.at + (size_t)r * out.stride);
}
