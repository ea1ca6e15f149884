/*
 * GRAPH_BIOME: the nearest box in a table. Included by kernel_template.h, which lists the
 * parameters.
 */
#ifndef KERNEL
#error "biomes_template.h: include kernel_template.h instead"
#endif

KERNEL_SMALL

static inline narrow_vector choose(integer_vector mask, narrow_vector a, narrow_vector b)
{
    return (narrow_vector)((mask & (integer_vector)a) | (~mask & (integer_vector)b));
}

/* The least and the greatest among N values. */
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

/* Put into NEAR, in order, the biomes that may be nearest to some sample. Each other one is farther
 * from all samples than one of these is from any. Returns how many. */
static int find_near(const struct biomes *biomes, const float *const in[BIOME_AXES], int n,
                     const struct biome *near[BIOMES_MAX])
{
    float low[BIOME_AXES], high[BIOME_AXES], least[BIOMES_MAX], most = INFINITY;
    int count = 0;
    /* The padding after few samples may be anything, so bounds would be, too. */
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

/* N samples' squared distances from BIOME. */
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

/* Not inlined, so that WebAssembly compiles it for size. */
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
