/*
 * Operations on fields, with the formulas in operations.def, and interpolation between lattice
 * nodes. Included by kernel_template.h, which lists the parameters.
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

/* A loop over N samples. OUT may be an input, so no pointer is restrict. */
#define EACH_SAMPLE(formula)        \
    do {                            \
        KERNEL_IVDEP                \
        for (int i = 0; i < n; i++) \
            out[i] = (formula);     \
    } while (0)

static void terrace_row(float height, float share, const float *restrict a, int n,
                        float *restrict out)
{
    const float inverse = 1 / height, from = 0.5f - share * 0.5f, steepness = 1 / share;
    for (int i = 0; i < n; i++) {
        const float q = a[i] * inverse, whole = floorf(q);
        out[i] = height * (whole + smoothstep((q - whole - from) * steepness));
    }
}

/* A node with a single input. */
static inline void shape_row(const struct operation *o, const float *a, int n, float *out)
{
    const float p = o->number[0], q = o->number[1];
    switch (o->kind) {
    case GRAPH_ABS:
        EACH_SAMPLE(fabsf(a[i]));
        break;
    case GRAPH_CLAMP:
        EACH_SAMPLE(narrow_clamp(a[i], p, q));
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
    default: /* operate_row names all kinds */
        break;
    }
}

/* A node whose samples depend on the same sample in each input alone. */
static KERNEL_FLAT void operate_row(const struct operation *o, const float *a, const float *b,
                                    const float *c, int n, float *out)
{
    const float p = o->number[0];
    switch (o->kind) {
    case GRAPH_NOISE:
    case GRAPH_WAVE_X:
    case GRAPH_WAVE_Y:
    case GRAPH_DAMPED:
    case GRAPH_ERODE:
    case GRAPH_LATTICE:
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
    case GRAPH_DRAIN:
    case GRAPH_DRAINAGE:
    case GRAPH_BASE_LEVEL:
    case GRAPH_BANK:
    case GRAPH_WATER:
    case GRAPH_RIVER:
    case GRAPH_CHANNEL: /* see steps.c */
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
    case GRAPH_MIX:
        EACH_SAMPLE(a[i] + c[i] * (b[i] - a[i]));
        break;
    case GRAPH_ABS:
    case GRAPH_CLAMP:
    case GRAPH_SPLINE:
    case GRAPH_STEP:
    case GRAPH_RIDGE:
    case GRAPH_TERRACE:
        shape_row(o, a, n, out);
        break;
    }
}

#undef EACH_SAMPLE

/* True if ROWS rows of N values follow each other without gaps in all inputs and in OUT. Then they
 * can be computed as one row. */
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

/* Mix four of a patch's rows, COUNT values each, into one, then take four neighbors from it for
 * each sample. */
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
