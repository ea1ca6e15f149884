/*
 * A noise at few samples, each evaluated as a point; and at a single place, as one point per
 * octave. Included by kernel_template.h, which lists the parameters.
 */
#ifndef KERNEL
#error "few_template.h: include kernel_template.h instead"
#endif

/* The warp's displacement along AXIS at FEW. */
static void displace_few(const struct noise *noise, int axis, const struct few_samples *few,
                         struct sums *sums, struct displacement *d)
{
    const struct octave_source source = {noise, &noise->warp_octave[axis], FARLANDS_PERLIN,
                                         USE_VALUES, 0};
    if (octave_is_broad(source.octave)) {
        broad_fill(sums->broad, 0, few->count);
        broad_add_few(&source, 1, few, sums->broad);
        broad_displace(noise, sums->broad, few->count, d);
    } else {
        narrow_fill(sums->narrow, 0, few->count);
        narrow_add_few(&source, 1, few, sums->narrow);
        narrow_displace(noise, sums->narrow, few->count, d);
    }
}

/* The values from N to COUNT are padding and may be anything, so they get the displacement of the
 * last one before. */
static void move_few(const float *value, double units, int n, int count, struct displacement *d)
{
    move_row(value, units, n, d);
    for (int i = n; i < count; i++) {
        d->whole[i] = d->whole[n - 1];
        d->fraction[i] = d->fraction[n - 1];
    }
}

static void sum_few(const struct noise *noise, const struct few_samples *few, struct sums *s)
{
    const int broad = noise->broad, octaves = noise->octaves;
    if (fractal_is_sum(noise)) {
        narrow_sum_few(noise, broad, octaves, few, s->narrow);
        broad_sum_few(noise, 0, broad, few, s->broad);
    } else {
        broad_fractal_few(noise, 0, broad, few, s->broad, s->broad_weight);
        round_weights(s, few->count);
        narrow_fractal_few(noise, broad, octaves, few, s->narrow, s->narrow_weight);
    }
}

/* The terms of all octaves at a single place. Flat, so that loops run in whole vectors. */
static KERNEL_FLAT void place_terms(const struct noise *noise, int64_t x, int64_t y,
                                    const struct displacement *moved,
                                    struct narrow_point_terms *narrow_terms,
                                    struct broad_point_terms *broad_terms)
{
    const struct octave_source source = {noise, noise->octave, noise->basis, USE_VALUES,
                                         noise->octaves};
    const int n = whole_vectors(noise->octaves), broad_n = whole_vectors(noise->broad);
    KERNEL_ALIGNED float narrow_amplitude[KERNEL_POINTS];
    KERNEL_ALIGNED double broad_amplitude[KERNEL_POINTS];
    struct point_room room[2];
    struct point_corners c;
    const struct points at_x = points_at(&source, AXIS_X, x, moved, n, &room[AXIS_X]);
    const struct points at_y = points_at(&source, AXIS_Y, y, moved, n, &room[AXIS_Y]);
    for (int i = 0; i < n; i++) {
        broad_amplitude[i] = fractal_is_sum(noise) ? noise->share[i] : 1;
        narrow_amplitude[i] = (float)broad_amplitude[i];
    }
    points_corners(&source, NULL, &at_x, &at_y, n, &c);
    narrow_use_points(&source, &c, &at_x, &at_y, n,
                      (struct narrow_point_use){narrow_amplitude, NULL, narrow_terms});
    broad_use_points(&source, &c, &at_x, &at_y, broad_n,
                     (struct broad_point_use){broad_amplitude, NULL, broad_terms});
}

static void sum_place(const struct noise *noise, int64_t x, int64_t y,
                      const struct displacement *moved, struct sums *s)
{
    const struct basis basis = basis_of(noise->basis);
    const int count = basis.method == BASIS_LINES ? 2 * basis.lines : 1;
    struct narrow_point_terms narrow_terms;
    struct broad_point_terms broad_terms;
    narrow_terms.count = broad_terms.count = count;
    place_terms(noise, x, y, moved, &narrow_terms, &broad_terms);
    broad_sum_place(noise, 0, noise->broad, &broad_terms, s->broad, s->broad_weight);
    round_weights(s, 1);
    narrow_sum_place(noise, noise->broad, noise->octaves, &narrow_terms, s->narrow,
                     s->narrow_weight);
}

static void noise_few(const struct noise *noise, const struct curve *curve,
                      const struct chunk *chunk, const struct rows *move, double units, float *out)
{
    const int n = chunk->width * chunk->height;
    struct few_samples few;
    struct displacement d[2];
    struct sums sums;

    take_samples(chunk, &few);
    for (int axis = 0; axis < 2; axis++)
        if (move)
            move_few(move[axis].at, units, n, few.count, &d[axis]);
        else if (noise->warp != 0)
            displace_few(noise, axis, &few, &sums, &d[axis]);
    few.moved = move || noise->warp != 0 ? d : NULL;
    begin_sums(&sums, few.count);
    if (KERNEL_PLACES && n == 1)
        sum_place(noise, chunk->x.first, chunk->y.first, few.moved, &sums);
    else
        sum_few(noise, &few, &sums);
    finish(noise, noise->broad, curve, &sums, 0, few.count, out);
}

static float noise_point(const struct noise *noise, const struct curve *curve, int64_t x, int64_t y)
{
    KERNEL_ALIGNED float metres[KERNEL_LANES];
    if (KERNEL_PLACES && noise->warp == 0) {
        struct sums sums;
        begin_sums(&sums, KERNEL_LANES);
        sum_place(noise, x, y, NULL, &sums);
        finish(noise, noise->broad, curve, &sums, 0, KERNEL_LANES, metres);
    } else {
        const struct chunk here = {{x, 1, NULL}, {y, 1, NULL}, 1, 1};
        noise_few(noise, curve, &here, NULL, 0, metres);
    }
    return metres[0];
}
