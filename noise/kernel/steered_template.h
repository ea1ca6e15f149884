/*
 * GRAPH_DAMPED and GRAPH_ERODE: noises in which an octave depends on the slopes of those before.
 * Included by kernel_template.h, which lists the parameters.
 */
#ifndef KERNEL
#error "steered_template.h: include kernel_template.h instead"
#endif

/* Octave K on row J, with its slopes. */
static void slopes_row(struct noise_run *run, int k, int j, float *value, float *dx, float *dy)
{
    if (octave_is_broad(&run->noise->octave[k]))
        broad_slope_row(&run->octave[k].broad, j, value, dx, dy);
    else
        narrow_slope_row(&run->octave[k].narrow, j, value, dx, dy);
}

static void damped_row(struct noise_run *run, float damping, int j, float *restrict out)
{
    KERNEL_ALIGNED float value[KERNEL_CHUNK], dx[KERNEL_CHUNK], dy[KERNEL_CHUNK];
    KERNEL_ALIGNED float gx[KERNEL_CHUNK], gy[KERNEL_CHUNK];
    const struct noise *noise = run->noise;
    const int n = run->n;

    narrow_fill(out, 0, n);
    narrow_fill(gx, 0, n);
    narrow_fill(gy, 0, n);
    for (int k = 0; k < noise->octaves && run->band_limit[k] != 0; k++) {
        const float amplitude = (float)noise->octave[k].amplitude;
        const float share =
            (float)(run->band_limit[k] * noise->octave[k].amplitude / noise->amplitude);
        slopes_row(run, k, j, value, dx, dy);
        for (int i = 0; i < n; i++) {
            gx[i] = fmaf(amplitude, dx[i], gx[i]);
            gy[i] = fmaf(amplitude, dy[i], gy[i]);
            const float steep = fmaf(gy[i], gy[i], gx[i] * gx[i]);
            out[i] = fmaf(share, value[i] / fmaf(damping, steep, 1), out[i]);
        }
    }
}

static void damped_band(struct noise_run *run, const struct operation *operation, int j, int rows,
                        struct rows out)
{
    for (int r = 0; r < rows; r++)
        damped_row(run, operation->number[0], j + r, out.at + (size_t)r * out.stride);
}

/* Weighted means along a row: cosines and sines of the stripes around cell points. (SX, SY) points
 * across the stripes and has the length GULLY_REACH. */
struct stripes {
    KERNEL_ALIGNED float weight[KERNEL_CHUNK], cosine[KERNEL_CHUNK], sine[KERNEL_CHUNK];
    KERNEL_ALIGNED float sx[KERNEL_CHUNK], sy[KERNEL_CHUNK];
};

/* The weight of one cell's stripes, and the *COSINE and *SINE of their phase. (DX, DY) is the way
 * to the cell's point, in reaches. */
static inline narrow_vector stripe(narrow_vector dx, narrow_vector dy, narrow_vector sx,
                                   narrow_vector sy, narrow_vector *cosine, narrow_vector *sine)
{
    const narrow_vector zero = {0};
    narrow_vector t = narrow_multiply_add(-dy, dy, narrow_multiply_add(-dx, dx, narrow_splat(1)));
    t = (narrow_vector)((integer_vector)t & (integer_vector)(t > zero));
    /* 2 pi times the phase, by polynomials within half a turn. A float near 1.5 2^23 has no room
     * for a fraction, so the sum rounds. */
    const narrow_vector phase = narrow_multiply_add(dy, sy, dx * sx);
    const narrow_vector p = phase - (phase + 0x1.8p23f - 0x1.8p23f), u = p * p;
    narrow_vector c = narrow_multiply_add(u, narrow_splat(45.631254f), narrow_splat(-82.437073f));
    c = narrow_multiply_add(u, c, narrow_splat(64.687716f));
    c = narrow_multiply_add(u, c, narrow_splat(-19.732600f));
    *cosine = narrow_multiply_add(u, c, narrow_splat(1));
    narrow_vector e = narrow_multiply_add(u, narrow_splat(-55.538244f), narrow_splat(77.721818f));
    e = narrow_multiply_add(u, e, narrow_splat(-41.071576f));
    *sine = p * narrow_multiply_add(u, e, narrow_splat(6.2780655f));
    return t * t * t;
}

/* For each vector, set bits in REACHED for the cells whose point has a sample within reach: bit 3 K
 * + SIDE for cell SIDE in row K. None for vectors whose NEEDED is 0. */
static void find_reached(const struct narrow_octave *octave, float (*const line[3])[KERNEL_CHUNK],
                         const float f[3], const uint32_t *restrict needed,
                         uint32_t *restrict reached)
{
    const int vectors = octave->n / KERNEL_LANES;
    for (int v = 0; v < vectors; v++)
        reached[v] = 0;
    for (int c = 0; c < 9; c++) {
        const float at = f[c / 3];
        const float *restrict low = narrow_gully_bounds(line[c / 3], c % 3, 0);
        const float *restrict high = narrow_gully_bounds(line[c / 3], c % 3, 1);
        for (int v = 0; v < vectors; v++)
            reached[v] |= low[v] < at && at < high[v] ? UINT32_C(1) << c : 0;
    }
    for (int v = 0; v < vectors; v++)
        reached[v] &= needed[v];
}

static void gully_stripes(struct narrow_octave *octave, int j, const uint32_t *needed,
                          struct stripes *s)
{
    float(*line[3])[KERNEL_CHUNK], f[3];
    uint32_t reached[KERNEL_CHUNK / KERNEL_LANES];
    for (int k = 0; k < 3; k++) {
        line[k] = narrow_lines(octave, octave->rows.cell[j] + k - 1);
        f[k] = ((float)octave->rows.f[j] - (float)(k - 1)) / GULLY_REACH;
    }
    find_reached(octave, line, f, needed, reached);
    for (int i = 0; i < octave->n; i += KERNEL_LANES) {
        const narrow_vector sx = narrow_load(s->sx + i), sy = narrow_load(s->sy + i);
        narrow_vector weight = narrow_splat(0.02f), cosine = {0}, sine = {0};
        for (uint32_t left = reached[i / KERNEL_LANES]; left; left &= left - 1) {
            const int c = __builtin_ctz(left), k = c / 3;
            const float *at = line[k][c % 3] + i;
            narrow_vector turn[2];
            const narrow_vector t =
                stripe(narrow_load(at), f[k] - narrow_load(at + 3 * KERNEL_CHUNK), sx, sy, &turn[0],
                       &turn[1]);
            weight += t;
            cosine = narrow_multiply_add(t, turn[0], cosine);
            sine = narrow_multiply_add(t, turn[1], sine);
        }
        narrow_store(s->weight + i, weight);
        narrow_store(s->cosine + i, cosine);
        narrow_store(s->sine + i, sine);
    }
}

/* Set all bits in NEEDED for a vector in which MASK is not 0 everywhere, and none for others, which
 * have no gullies. Returns true if any is set. */
static bool find_needed(const float *mask, int n, uint32_t *needed)
{
    uint32_t any = 0;
    for (int v = 0; v < n / KERNEL_LANES; v++) {
        needed[v] = 0;
        for (int lane = 0; lane < KERNEL_LANES; lane++)
            needed[v] |= mask[v * KERNEL_LANES + lane] != 0 ? ~UINT32_C(0) : 0;
        any |= needed[v];
    }
    return any != 0;
}

/* IN is not read if the band limit leaves no octave. */
static void erode_row(struct noise_run *run, const struct operation *o, int j,
                      const float *const in[3], float *restrict out)
{
    KERNEL_ALIGNED float gx[KERNEL_CHUNK], gy[KERNEL_CHUNK], steep[KERNEL_CHUNK];
    struct stripes s;
    uint32_t needed[KERNEL_CHUNK / KERNEL_LANES];
    const float *restrict mask = in[2];
    const float half = o->number[1] * o->number[1];
    const int n = run->n;

    narrow_fill(out, 0, n);
    if (run->band_limit[0] == 0 || !find_needed(mask, n, needed))
        return;
    memcpy(gx, in[0], (size_t)n * sizeof *gx);
    memcpy(gy, in[1], (size_t)n * sizeof *gy);
    for (int k = 0; k < run->noise->octaves && run->band_limit[k] != 0; k++) {
        const float blocks = (float)run->noise->octave[k].wavelength / (float)FARLANDS_UNIT;
        const float limit = (float)run->band_limit[k];
        for (int i = 0; i < n; i++) {
            steep[i] = fmaf(gy[i], gy[i], fmaf(gx[i], gx[i], 1e-12f));
            const float inverse = GULLY_REACH / sqrtf(steep[i]);
            s.sx[i] = -gy[i] * inverse;
            s.sy[i] = gx[i] * inverse;
        }
        gully_stripes(&run->octave[k].narrow, j, needed, &s);
        for (int i = 0; i < n; i++) {
            /* The depth divided by the weight: up to 1e9 times squares of 1e11. */
            const float share =
                o->number[0] * mask[i] * steep[i] / ((steep[i] + half) * s.weight[i]);
            out[i] = fmaf(limit * blocks, share * s.cosine[i], out[i]);
            /* Half the stripes' slope: -2 pi times the sine, across the stripes. */
            const float slope = -3.14159265f / GULLY_REACH * share * s.sine[i];
            gx[i] = fmaf(slope, s.sx[i], gx[i]);
            gy[i] = fmaf(slope, s.sy[i], gy[i]);
        }
    }
}

static void erode_band(struct noise_run *run, const struct operation *operation,
                       const struct rows *in, int j, int rows, struct rows out)
{
    for (int r = 0; r < rows; r++) {
        const float *input[3];
        for (int i = 0; i < 3; i++)
            input[i] = in[i].at + (size_t)r * in[i].stride;
        erode_row(run, operation, j + r, input, out.at + (size_t)r * out.stride);
    }
}
