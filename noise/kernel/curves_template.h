/*
 * Elevation curves and splines: the pieces that values lie on, and monotone cubic curves.
 * octave_template.h has linear curves, in float and double. Included by kernel_template.h, which
 * lists the parameters.
 */
#ifndef KERNEL
#error "curves_template.h: include kernel_template.h instead"
#endif

/* The pieces of C that a vector of values lies on: by binary search if a lookup is one instruction,
 * or else by counting. */
static inline integer_vector piece_of(const struct curve *c, narrow_vector v)
{
    integer_vector piece = {0};
    if (KERNEL_LANES == 16)
        for (uint32_t bit = c->half; bit; bit >>= 1)
            piece |= bit & (integer_vector)(v >= lookup_32(c->from, piece | bit));
    else
        for (int k = 1; k < c->pieces; k++)
            piece -= (integer_vector)(v >= narrow_splat(c->from[k]));
    return piece;
}

/* True if C's tables fit a vector, and a lookup there is faster than in memory. */
static inline bool curve_is_small(const struct curve *c)
{
    return KERNEL_LANES == 8 && c->pieces <= KERNEL_LANES;
}

/* TABLE[index] for a curve that is SMALL, or not. */
static inline narrow_vector lookup_piece(const float *table, integer_vector index, bool small)
{
    return small ? lookup_lanes(narrow_load(table), index) : lookup_32(table, index);
}

/* The pieces of a linear curve that N values lie on. */
static inline void find_pieces(const struct curve *c, const float *value, int n, float *from,
                               float *base, float *slope, float *slope_rest)
{
    const bool small = curve_is_small(c);
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const integer_vector piece = piece_of(c, narrow_load(value + i));
        narrow_store(from + i, lookup_piece(c->from, piece, small));
        narrow_store(base + i, lookup_piece(c->base, piece, small));
        narrow_store(slope + i, lookup_piece(c->slope, piece, small));
        narrow_store(slope_rest + i, lookup_piece(c->slope_rest, piece, small));
    }
}

/* The monotone cubic curve C at N values within its ends. SMALL is a constant in each call. */
static inline __attribute__((always_inline)) void
cubic_pieces(const struct curve *c, bool small, const float *value, int n, float *restrict out)
{
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const narrow_vector v = narrow_load(value + i);
        const integer_vector at = piece_of(c, v);
        const narrow_vector t =
            (v - lookup_piece(c->from, at, small)) * lookup_piece(c->inverse, at, small);
        narrow_vector rise = narrow_multiply_add(t, lookup_piece(c->rise[2], at, small),
                                                 lookup_piece(c->rise[1], at, small));
        rise = narrow_multiply_add(t, rise, lookup_piece(c->rise[0], at, small));
        narrow_store(out + i, narrow_multiply_add(t, rise, lookup_piece(c->base, at, small)));
    }
}

/* The monotone cubic curve C at any N values. */
static void cubic_row(const struct curve *c, const float *restrict a, int n, float *restrict out)
{
    KERNEL_ALIGNED float value[KERNEL_CHUNK];

    for (int i = 0; i < n; i++)
        value[i] = narrow_clamp(a[i], c->first, c->last);
    if (curve_is_small(c))
        cubic_pieces(c, true, value, n, out);
    else
        cubic_pieces(c, false, value, n, out);
    for (int i = 0; i < n; i++)
        out[i] = narrow_clamp(out[i], c->lowest, c->highest);
}
