/*
 * Operations on fields, whose formulas operations.def has, and the interpolation of lattices. Part
 * of kernel_template.h, which lists the parameters.
 */
#ifndef KERNEL
#error "fields_template.h: include kernel_template.h instead"
#endif

static inline float smoothstep(float t)
{
    t = narrow_clamp(t, 0, 1);
    return t * t * (3 - 2 * t);
}

static inline float smooth_min(float a, float b, float p, float inverse)
{
    const float least = a < b ? a : b;
    float h = 1 - fabsf(a - b) * inverse;
    h = h > 0 ? h : 0;
    return least - h * h * p * 0.25f;
}

/* A loop over fields. OUT may be one of them, so none is restrict. */
#define EACH_SAMPLE(formula)        \
    do {                            \
        KERNEL_IVDEP                \
        for (int i = 0; i < n; i++) \
            out[i] = (formula);     \
    } while (0)

/* The monotone cubic CURVE at N VALUEs within its ends. SMALL is a constant in each call. */
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

/* The monotone cubic CURVE at N values. */
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

static void terrace_row(float height, float share, const float *restrict a, int n,
                        float *restrict out)
{
    const float inverse = 1 / height, from = 0.5f - share * 0.5f, steepness = 1 / share;
    for (int i = 0; i < n; i++) {
        const float q = a[i] * inverse, whole = floorf(q);
        out[i] = height * (whole + smoothstep((q - whole - from) * steepness));
    }
}

/* --- Biomes --- */

KERNEL_SMALL

static inline narrow_vector choose(integer_vector mask, narrow_vector a, narrow_vector b)
{
    return (narrow_vector)((mask & (integer_vector)a) | (~mask & (integer_vector)b));
}

/* The least and the greatest of N values. */
static void find_bounds(const float *value, int n, float *low, float *high)
{
    narrow_vector least = narrow_load(value), greatest = least;
    for (int i = KERNEL_LANES; i < n; i += KERNEL_LANES) {
        const narrow_vector v = narrow_load(value + i);
        least = choose((integer_vector)(v < least), v, least);
        greatest = choose((integer_vector)(v > greatest), v, greatest);
    }
    *low = least[0];
    *high = greatest[0];
    for (int lane = 1; lane < KERNEL_LANES; lane++) {
        *low = least[lane] < *low ? least[lane] : *low;
        *high = greatest[lane] > *high ? greatest[lane] : *high;
    }
}

/* Put those biomes into NEAR, in order, that may be the nearest of a sample. Others are farther
 * from all samples than one of these is from any. Returns how many. */
static int find_near(const struct biomes *biomes, const float *const in[BIOME_AXES], int n,
                     const struct biome *near[BIOMES_MAX])
{
    float low[BIOME_AXES], high[BIOME_AXES], least[BIOMES_MAX], most = INFINITY;
    int count = 0;
    /* What few samples have beyond the last of them may be anything. */
    const bool few = n <= KERNEL_POINTS;
    for (int i = 0; i < BIOME_AXES && !few; i++)
        find_bounds(in[i], n, &low[i], &high[i]);
    for (int k = 0; k < biomes->count; k++) {
        const struct biome *biome = &biomes->biome[k];
        float greatest = least[k] = 0;
        for (int i = 0; i < biome->limits && !few; i++) {
            const struct biome_limit *limit = &biome->limit[i];
            least[k] += biome_square(limit, low[limit->axis], high[limit->axis]);
            greatest += biome_square(limit, high[limit->axis], low[limit->axis]);
        }
        most = greatest < most ? greatest : most;
    }
    for (int k = 0; k < biomes->count; k++)
        if (least[k] <= most)
            near[count++] = &biomes->biome[k];
    return count;
}

/* The squares of the distances of N samples from BIOME. */
static void square_row(const struct biome *biome, const float *const in[BIOME_AXES], int n,
                       float *restrict square)
{
    narrow_fill(square, 0, n);
    for (int k = 0; k < biome->limits; k++) {
        const struct biome_limit limit = biome->limit[k];
        const float *restrict x = in[limit.axis];
        for (int i = 0; i < n; i++) {
            const float distance = (x[i] - narrow_clamp(x[i], limit.from, limit.to)) * limit.weight;
            square[i] += distance * distance;
        }
    }
}

/* A call of its own, so that WebAssembly has it in the small form. */
static __attribute__((noinline)) void biome_row(const struct biomes *biomes,
                                                const float *const in[BIOME_AXES], int n,
                                                float *restrict out)
{
    KERNEL_ALIGNED float square[KERNEL_CHUNK], least[KERNEL_CHUNK];
    const struct biome *near[BIOMES_MAX] = {biomes->biome};
    const int count = find_near(biomes, in, n, near);
    narrow_fill(out, near[0]->id, n);
    if (count > 1)
        square_row(near[0], in, n, least);
    for (int k = 1; k < count; k++) {
        const narrow_vector id = narrow_splat(near[k]->id);
        square_row(near[k], in, n, square);
        for (int i = 0; i < n; i += KERNEL_LANES) {
            const narrow_vector next = narrow_load(square + i), best = narrow_load(least + i);
            const integer_vector nearer = (integer_vector)(next < best);
            narrow_store(least + i, choose(nearer, next, best));
            narrow_store(out + i, choose(nearer, id, narrow_load(out + i)));
        }
    }
}

KERNEL_FAST

static KERNEL_FLAT void operate_row(const struct operation *o, const float *a, const float *b,
                                    const float *c, int n, float *out)
{
    const float p = o->number[0], q = o->number[1];
    switch (o->kind) {
    case GRAPH_NOISE:
    case GRAPH_DAMPED:
    case GRAPH_ERODE:
    case GRAPH_LATTICE:
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
    case GRAPH_DRAIN:
    case GRAPH_BASE_LEVEL:
    case GRAPH_BANK:
    case GRAPH_WATER:
    case GRAPH_RIVER:
    case GRAPH_CHANNEL: /* see evaluate.c */
    case GRAPH_BIOME:   /* see operate */
        break;
    case GRAPH_CONSTANT:
        EACH_SAMPLE(p);
        break;
    case GRAPH_ADD:
        EACH_SAMPLE(a[i] + b[i]);
        break;
    case GRAPH_SUBTRACT:
        EACH_SAMPLE(a[i] - b[i]);
        break;
    case GRAPH_MULTIPLY:
        EACH_SAMPLE(a[i] * b[i]);
        break;
    case GRAPH_MIN:
        EACH_SAMPLE(a[i] < b[i] ? a[i] : b[i]);
        break;
    case GRAPH_MAX:
        EACH_SAMPLE(a[i] > b[i] ? a[i] : b[i]);
        break;
    case GRAPH_SMOOTH_MIN: {
        const float inverse = 1 / p;
        EACH_SAMPLE(smooth_min(a[i], b[i], p, inverse));
        break;
    }
    case GRAPH_SMOOTH_MAX: {
        const float inverse = 1 / p;
        EACH_SAMPLE(-smooth_min(-a[i], -b[i], p, inverse));
        break;
    }
    case GRAPH_ABS:
        EACH_SAMPLE(fabsf(a[i]));
        break;
    case GRAPH_CLAMP:
        EACH_SAMPLE(narrow_clamp(a[i], p, q));
        break;
    case GRAPH_MIX:
        EACH_SAMPLE(a[i] + c[i] * (b[i] - a[i]));
        break;
    case GRAPH_SPLINE:
        if (o->curve->cubic)
            cubic_row(o->curve, a, n, out);
        else
            narrow_bend(o->curve, 1, 0, a, n, out);
        break;
    case GRAPH_STEP: {
        const float inverse = 1 / (q - p);
        EACH_SAMPLE(smoothstep((a[i] - p) * inverse));
        break;
    }
    case GRAPH_RIDGE: {
        const float inverse = 1 / p;
        EACH_SAMPLE(smoothstep(1 - fabsf(a[i]) * inverse));
        break;
    }
    case GRAPH_TERRACE:
        terrace_row(p, q, a, n, out);
        break;
    }
}

#undef EACH_SAMPLE

/* --- Noises that steer themselves --- */

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

/* The weighted means of cosines and sines of stripes around the points of cells, along a row, in
 * which (SX, SY) is the way across the stripes, of length GULLY_REACH. */
struct stripes {
    KERNEL_ALIGNED float weight[KERNEL_CHUNK], cosine[KERNEL_CHUNK], sine[KERNEL_CHUNK];
    KERNEL_ALIGNED float sx[KERNEL_CHUNK], sy[KERNEL_CHUNK];
};

/* The weight of a cell's stripes, the way to whose point is (DX, DY), in reaches; *COSINE and *SINE
 * of their phase. */
static inline narrow_vector stripe(narrow_vector dx, narrow_vector dy, narrow_vector sx,
                                   narrow_vector sy, narrow_vector *cosine, narrow_vector *sine)
{
    const narrow_vector zero = {0};
    narrow_vector t = narrow_multiply_add(-dy, dy, narrow_multiply_add(-dx, dx, narrow_splat(1)));
    t = (narrow_vector)((integer_vector)t & (integer_vector)(t > zero));
    /* Of 2 pi times the phase, by polynomials within half a turn. A float has no room for a
     * fraction beside 1.5 2^23. */
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

/* Set bits in REACHED for cells whose points have samples of each vector within reach: cell SIDE of
 * row K, 3 K + SIDE. Samples of vectors whose NEEDED is 0 have none. */
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

/* All bits set in NEEDED for vectors of MASK in which it is not 0 everywhere, and so gullies are
 * not. Returns whether there are any. */
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
            /* Half of the slope of the stripes: -2 pi times the sine, across them. */
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

/* True if ROWS rows of N values follow each other without gaps, in and out: so they are one. */
static bool are_joined(const struct operation *operation, const struct rows *in, int n,
                       struct rows out)
{
    size_t gaps = out.stride - (size_t)n;
    for (int i = 0; i < operation->inputs; i++)
        gaps |= in[i].stride - (size_t)n;
    return gaps == 0 && operation->kind != GRAPH_SPLINE && operation->kind != GRAPH_BIOME;
}

static void operate(const struct operation *operation, const struct rows *in, int rows, int n,
                    struct rows out)
{
    if (are_joined(operation, in, n, out)) {
        n *= rows;
        rows = 1;
    }
    for (int r = 0; r < rows; r++) {
        const float *input[GRAPH_MAX_INPUTS] = {NULL};
        for (int i = 0; i < operation->inputs; i++)
            input[i] = in[i].at + (size_t)r * in[i].stride;
        float *to = out.at + (size_t)r * out.stride;
        if (operation->kind == GRAPH_BIOME)
            biome_row(operation->biomes, input, n, to);
        else
            operate_row(operation, input[0], input[1], input[2], n, to);
    }
}

static bool is_zero(struct rows values, int rows, int n)
{
    uint32_t any = 0;
    for (int r = 0; r < rows && any == 0; r++) {
        const float *row = values.at + (size_t)r * values.stride;
        for (int i = 0; i < n; i++)
            any |= row[i] != 0;
    }
    return any == 0;
}

static void unsign_zeros(struct rows values, int rows, int n, struct rows out)
{
    for (int r = 0; r < rows; r++) {
        const float *in = values.at + (size_t)r * values.stride;
        float *to = out.at + (size_t)r * out.stride;
        for (int i = 0; i < n; i++)
            to[i] = in[i] + 0.0f;
    }
}

/* Four of a patch's rows, COUNT values each, become one, from which each sample takes four
 * neighbours. */
static void interpolate(const uint32_t *first, const float *column, const float *const line[4],
                        const float row[4], int count, int n, float *restrict out)
{
    KERNEL_ALIGNED float mixed[KERNEL_CHUNK + KERNEL_STEP];
    const float *restrict a = line[0], *restrict b = line[1], *restrict c = line[2];
    const float *restrict d = line[3];
    const float p = row[0], q = row[1], r = row[2], s = row[3];

    for (int i = 0; i < whole_steps(count); i++)
        mixed[i] = fmaf(s, d[i], fmaf(r, c[i], fmaf(q, b[i], p * a[i])));
    memset(mixed + whole_steps(count), 0, KERNEL_STEP * sizeof *mixed);
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const uint32_t *at = first + i;
        narrow_vector value[4] = {{0}};
        if (at[KERNEL_LANES - 1] - at[0] + 3 < KERNEL_LANES) {
            const integer_vector near = integer_load(at) - at[0];
            const narrow_vector table = narrow_load(mixed + at[0]);
            for (int k = 0; k < 4; k++)
                value[k] = lookup_lanes(table, near + (uint32_t)k);
        } else {
            for (int k = 0; k < 4; k++)
                for (int lane = 0; lane < KERNEL_LANES; lane++)
                    value[k][lane] = mixed[at[lane] + (uint32_t)k];
        }
        narrow_vector sum = narrow_load(column + i) * value[0];
        for (int k = 1; k < 4; k++)
            sum = narrow_multiply_add(narrow_load(column + k * KERNEL_CHUNK + i), value[k], sum);
        narrow_store(out + i, sum);
    }
}
