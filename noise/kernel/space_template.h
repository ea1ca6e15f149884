/*
 * One octave in space: lattice rows interpolated along x, and the slices between which samples
 * lie. Part of octave_template.h.
 */

/* The lines of the lattice row ROW of the slice SLICE at N samples: along, and across in y and in
 * z. They stay until as many others were wanted as there are slots. */
static const REAL (*NAME(space_line)(const struct farlands_terrain *terrain, struct SCRATCH *s,
                                     struct line_work *w, int64_t row, int64_t slice, int n))[CHUNK]
{
    const struct lattice *lattice = &s->lattice;
    bool known;
    REAL(*line)
    [CHUNK] = s->line + slot_lines(FARLANDS_PERLIN) * find_slot(&s->slots, row, slice, &known);
    struct axis_hash columns = {s->lattice.low, s->lattice.high};

    if (known)
        return (const REAL(*)[CHUNK])line;
    if (s->octave->cells)
        row = wrapped(row, s->octave->cells);
    if (lattice->dense) {
        const int count = whole_steps(lattice->count);
        space_indices(terrain, s->octave, columns, row, slice, count, w->index);
        gradients_3d_at(w->index, count, w->x, w->y, w->z);
    }
    for (int side = 0; side < 2; side++) {
        if (lattice->dense) {
            expand(lattice, w->x, side, n, w->side_x[side]);
            expand(lattice, w->y, side, n, w->side_y[side]);
            expand(lattice, w->z, side, n, w->side_z[side]);
            continue;
        }
        space_indices(terrain, s->octave, columns, row, slice, n, w->index);
        gradients_3d_at(w->index, n, w->side_x[side], w->side_y[side], w->side_z[side]);
        columns.low += CHUNK;
        columns.high += CHUNK;
    }
    for (int i = 0; i < n; i++) {
        const REAL q0 = s->q_x[0][i], q1 = s->q_x[1][i];
        line[0][i] = FMA(s->p_x[1][i], w->side_x[1][i], s->p_x[0][i] * w->side_x[0][i]);
        line[1][i] = FMA(q1, w->side_y[1][i], q0 * w->side_y[0][i]);
        line[2][i] = FMA(q1, w->side_z[1][i], q0 * w->side_z[0][i]);
    }
    return (const REAL(*)[CHUNK])line;
}

/* UNITS from where the lattice begins, its cells HEIGHT units high. */
static struct NAME(slice)
    NAME(slice_at)(enum farlands_fade fade, int64_t units, int64_t height, double inverse_height)
{
    const struct lattice_place place = lattice_place(units, height);
    struct NAME(slice) slice = {.cell = place.cell};
    NAME(corner_weights)(fade, exact_double(place.rest) * inverse_height, 1, slice.p, slice.q);
    return slice;
}
