/*
 * One octave of Perlin noise in space, that is in three dimensions: lattice rows interpolated along
 * x, and slices at one altitude. Included by octave_template.h, which lists the parameters.
 */
#if !defined REAL || !defined KERNEL_LANES
#error "space_template.h: include octave_template.h instead"
#endif

/* The lines for lattice row ROW in lattice slice SLICE: along, across in y, across in z. They stay
 * until KERNEL_SLOTS others have been made. */
__attribute__((unused)) static REAL (*REAL_NAME(space_line)(struct REAL_NAME(octave) * s,
                                                            int64_t row,
                                                            int64_t slice))[KERNEL_CHUNK]
{
    const struct octave_source *source = &s->source;
    const struct lattice *lattice = &s->lattice;
    struct line_work *w = s->work;
    const int n = s->n;
    bool known;
    const int slot = find_slot(&s->slots, row, slice, &known);
    REAL(*line)[KERNEL_CHUNK] = s->line + slot * slot_lines(&s->source);
    struct axis_hash columns = {s->lattice.low, s->lattice.high};

    if (known)
        return line;
    if (source->octave->cells)
        row = wrapped(row, source->octave->cells);
    if (lattice->dense) {
        const int count = whole_steps(lattice->count);
        space_indices(source, columns, row, slice, count, w->index);
        gradients_3d_at(w->index, count, w->x, w->y, w->z);
    }
    for (int side = 0; side < 2; side++) {
        if (lattice->dense) {
            expand(lattice, w->x, side, n, w->side_x[side]);
            expand(lattice, w->y, side, n, w->side_y[side]);
            expand(lattice, w->z, side, n, w->side_z[side]);
            continue;
        }
        space_indices(source, columns, row, slice, n, w->index);
        gradients_3d_at(w->index, n, w->side_x[side], w->side_y[side], w->side_z[side]);
        columns.low += KERNEL_CHUNK;
        columns.high += KERNEL_CHUNK;
    }
    for (int i = 0; i < n; i++) {
        const REAL q0 = s->q_x[0][i], q1 = s->q_x[1][i];
        line[0][i] = REAL_FMA(s->p_x[1][i], w->side_x[1][i], s->p_x[0][i] * w->side_x[0][i]);
        line[1][i] = REAL_FMA(q1, w->side_y[1][i], q0 * w->side_y[0][i]);
        line[2][i] = REAL_FMA(q1, w->side_z[1][i], q0 * w->side_z[0][i]);
    }
    return line;
}

/* The slice at altitude Z, in units, through cells HEIGHT units high. */
__attribute__((unused)) static struct REAL_NAME(slice)
    REAL_NAME(slice_at)(const struct octave_source *source, int64_t z, int64_t height,
                        double inverse_height)
{
    const struct lattice_place place = lattice_place(z + source->octave->shift[AXIS_Z], height);
    struct REAL_NAME(slice) slice = {.cell = place.cell};
    const double f = exact_double(place.rest) * inverse_height;
    REAL_NAME(corner_weights)(source->noise->fade, f, 1, slice.p, slice.q);
    return slice;
}
