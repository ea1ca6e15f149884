/*
 * Operations on fields, whose formulas graph.h has, and the interpolation of lattices. Part of
 * kernel_template.h, which lists the parameters.
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

/* The three kinds of loops: over one field, two, three. */
#define EACH_SAMPLE(formula)        \
    do {                            \
        for (int i = 0; i < n; i++) \
            out[i] = (formula);     \
    } while (0)

/* The monotone cubic CURVE at N values. */
static void cubic_row(const struct curve *c, const float *restrict a, int n, float *restrict out)
{
    KERNEL_ALIGNED float value[KERNEL_CHUNK];

    for (int i = 0; i < n; i++)
        value[i] = narrow_clamp(a[i], c->first, c->last);
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const integer_vector at = piece_of(c, narrow_load(value + i));
        const narrow_vector t =
            (narrow_load(value + i) - lookup_32(c->from, at)) * lookup_32(c->inverse, at);
        narrow_vector v =
            narrow_multiply_add(t, lookup_32(c->rise[2], at), lookup_32(c->rise[1], at));
        v = narrow_multiply_add(t, v, lookup_32(c->rise[0], at));
        narrow_store(out + i, narrow_multiply_add(t, v, lookup_32(c->base, at)));
    }
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

static KERNEL_FLAT void operate_row(const struct operation *o, const float *restrict a,
                                    const float *restrict b, const float *restrict c, int n,
                                    float *restrict out)
{
    const float p = o->number[0], q = o->number[1];
    switch (o->kind) {
    case GRAPH_NOISE:
    case GRAPH_LATTICE: /* see evaluate.c */
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

static void operate(const struct operation *operation, const struct rows *in, int rows, int n,
                    struct rows out)
{
    for (int r = 0; r < rows; r++) {
        const float *input[GRAPH_MAX_INPUTS] = {NULL};
        for (int i = 0; i < operation->inputs; i++)
            input[i] = in[i].at + (size_t)r * in[i].stride;
        operate_row(operation, input[0], input[1], input[2], n, out.at + (size_t)r * out.stride);
    }
}

/* Four of a patch's rows, COUNT values each, become one, from which each sample takes four
 * neighbours. */
static void interpolate(const struct patch_columns *columns, const float *const line[4],
                        const float weight[4], int count, int n, float *restrict out)
{
    KERNEL_ALIGNED float mixed[KERNEL_CHUNK + KERNEL_STEP];
    const float *restrict a = line[0], *restrict b = line[1], *restrict c = line[2];
    const float *restrict d = line[3];
    const float p = weight[0], q = weight[1], r = weight[2], s = weight[3];

    for (int i = 0; i < whole_steps(count); i++)
        mixed[i] = fmaf(s, d[i], fmaf(r, c[i], fmaf(q, b[i], p * a[i])));
    memset(mixed + whole_steps(count), 0, KERNEL_STEP * sizeof *mixed);
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const int32_t *at = columns->first + i;
        narrow_vector value[4] = {{0}};
        if (at[KERNEL_LANES - 1] - at[0] + 3 < KERNEL_LANES) {
            integer_vector near;
            for (int lane = 0; lane < KERNEL_LANES; lane++)
                near[lane] = (uint32_t)(at[lane] - at[0]);
            const narrow_vector table = narrow_load(mixed + at[0]);
            for (int k = 0; k < 4; k++)
                value[k] = lookup_lanes(table, near + (uint32_t)k);
        } else {
            for (int k = 0; k < 4; k++)
                for (int lane = 0; lane < KERNEL_LANES; lane++)
                    value[k][lane] = mixed[at[lane] + k];
        }
        narrow_vector sum = narrow_load(columns->weight[0] + i) * value[0];
        for (int k = 1; k < 4; k++)
            sum = narrow_multiply_add(narrow_load(columns->weight[k] + i), value[k], sum);
        narrow_store(out + i, sum);
    }
}
