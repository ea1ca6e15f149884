/*
 * One lattice row: its corners one after the other, and the gradients or values at a chunk's
 * samples. Included by kernel_template.h, which lists the parameters.
 */
#if !defined KERNEL || !defined KERNEL_LANES
#error "lattice_template.h: include kernel_template.h instead"
#endif

/* Prepare the lattice columns for a chunk: N samples, UNITS apart. */
static void lattice_begin(const struct octave_source *source, const struct places *places,
                          int64_t units, int n, struct lattice *lattice)
{
    const struct basis basis = basis_of(source->basis);
    const struct axis_hash hash = {lattice->low, lattice->high};
    /* True if a vector of samples, and the column after them, lie within a vector of columns. */
    lattice->dense = units * (KERNEL_LANES - 1) <= source->octave->wavelength * (KERNEL_LANES - 2);
    if (!lattice->dense) {
        for (int side = 0; side < basis.corners; side++)
            axis_hashes(source, AXIS_X, places->cell, basis.first + side, n,
                        (struct axis_hash){hash.low + side * KERNEL_CHUNK,
                                           hash.high + side * KERNEL_CHUNK});
        return;
    }
    const int64_t first = places->cell[0];
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const int64_t base = places->cell[i];
        lattice->group[i / KERNEL_LANES] = (int32_t)(base - first);
        for (int l = 0; l < KERNEL_LANES; l++)
            lattice->near[i + l] = (uint32_t)(places->cell[i + l] - base);
    }
    /* The last group may read past its cells. */
    lattice->count = (int)(places->cell[n - 1] - first) + basis.corners;
    int64_t cell[KERNEL_CHUNK + KERNEL_STEP];
    cell[0] = first;
    for (int i = 1; i < whole_steps(lattice->count); i++)
        cell[i] = first + i;
    axis_hashes(source, AXIS_X, cell, basis.first, whole_steps(lattice->count), hash);
}

/* OUT[i] = VALUE at the lattice column SIDE columns east of sample i's first corner. */
static inline void expand(const struct lattice *lattice, const float *value, int side, int n,
                          float *out)
{
    for (int i = 0; i < n; i += KERNEL_LANES)
        narrow_store(out + i,
                     lookup_lanes(narrow_load(value + lattice->group[i / KERNEL_LANES] + side),
                                  integer_load(lattice->near + i)));
}

/* The corners in lattice row ROW at each of N samples: work->side_x, side_y. For FARLANDS_PERLIN in
 * a dense lattice, work->x, y per lattice column instead, not yet expanded. */
static void lattice_line(const struct octave_source *source, const struct lattice *lattice,
                         int64_t row, int n, struct line_work *work)
{
    const struct noise *noise = source->noise;
    const struct basis basis = basis_of(source->basis);
    const struct row_hash hash = row_hash(source, row);
    struct axis_hash columns = {(uint32_t *)lattice->low, (uint32_t *)lattice->high};

    if (!lattice->dense) {
        for (int side = 0; side < basis.corners; side++) {
            row_indices(noise, columns, hash, n, work->index);
            corners_at(source, work->index, n, work->side_x[side], work->side_y[side]);
            columns.low += KERNEL_CHUNK;
            columns.high += KERNEL_CHUNK;
        }
        return;
    }
    const int count = whole_steps(lattice->count);
    if (source->basis == FARLANDS_PERLIN && noise->hash == FARLANDS_MIX64) {
        for (int i = 0; i < count; i += KERNEL_LANES) {
            narrow_vector x, y;
            mixed_gradients(&noise->gradients, columns.low + i, columns.high + i, hash, &x, &y);
            narrow_store(work->x + i, x);
            narrow_store(work->y + i, y);
        }
        return;
    }
    row_indices(noise, columns, hash, count, work->index);
    corners_at(source, work->index, count, work->x, work->y);
    if (source->basis == FARLANDS_PERLIN)
        return;
    for (int side = 0; side < basis.corners; side++) {
        if (basis.corner != BASIS_VALUE)
            expand(lattice, work->x, side, n, work->side_x[side]);
        expand(lattice, work->y, side, n, work->side_y[side]);
    }
}

/*
 * Perlin noise in narrow octaves: both components at both corners at once, interpolated along x as
 * in perlin_line. Fine octaves spend most time here. First for samples that share cells ...
 */
static inline void expand_perlin(const struct lattice *lattice, const struct line_work *w,
                                 const float (*p)[KERNEL_CHUNK], const float (*q)[KERNEL_CHUNK],
                                 int n, float *restrict along, float *restrict across)
{
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const int base = lattice->group[i / KERNEL_LANES];
        const integer_vector west = integer_load(lattice->near + i), east = west + 1;
        const narrow_vector x = narrow_load(w->x + base), y = narrow_load(w->y + base);
        const narrow_vector x0 = lookup_lanes(x, west), x1 = lookup_lanes(x, east);
        const narrow_vector y0 = lookup_lanes(y, west), y1 = lookup_lanes(y, east);
        narrow_store(along + i,
                     narrow_multiply_add(narrow_load(p[1] + i), x1, narrow_load(p[0] + i) * x0));
        narrow_store(across + i,
                     narrow_multiply_add(narrow_load(q[1] + i), y1, narrow_load(q[0] + i) * y0));
    }
}

/* ... then for cells finer than samples, under mix64. */
static inline void mix_perlin(const struct lattice *lattice, const struct gradient_set *set,
                              struct row_hash row, const float (*p)[KERNEL_CHUNK],
                              const float (*q)[KERNEL_CHUNK], int n, float *restrict along,
                              float *restrict across)
{
    const uint32_t *low = lattice->low, *high = lattice->high;
    for (int i = 0; i < n; i += KERNEL_LANES) {
        narrow_vector x0, y0, x1, y1;
        mixed_gradients(set, low + i, high + i, row, &x0, &y0);
        mixed_gradients(set, low + KERNEL_CHUNK + i, high + KERNEL_CHUNK + i, row, &x1, &y1);
        narrow_store(along + i,
                     narrow_multiply_add(narrow_load(p[1] + i), x1, narrow_load(p[0] + i) * x0));
        narrow_store(across + i,
                     narrow_multiply_add(narrow_load(q[1] + i), y1, narrow_load(q[0] + i) * y0));
    }
}

/* The indices of N corners in space: lattice row ROW, lattice slice SLICE. */
static void space_indices(const struct octave_source *source, struct axis_hash column, int64_t row,
                          int64_t slice, int n, uint32_t *restrict index)
{
    const struct noise *noise = source->noise;
    const struct octave *octave = source->octave;
    const uint32_t *restrict p = noise->permutation;
    if (noise->hash == FARLANDS_MIX64) {
        const uint64_t joined = lattice_join(lattice_axis(row, octave->key[AXIS_Y]),
                                             lattice_axis(slice, octave->key[AXIS_Z]));
        row_indices(noise, column, (struct row_hash){(uint32_t)joined, (uint32_t)(joined >> 32)}, n,
                    index);
        return;
    }
    const uint32_t y = (uint32_t)row, z = (uint32_t)slice + octave->salt;
    for (int i = 0; i < n; i++)
        index[i] = p[(p[(p[column.low[i] & 255] + y) & 255] + z) & 255];
}
