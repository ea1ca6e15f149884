/*
 * Loops over the samples near rivers. rivers.h has the formulas. Included by kernel_template.h,
 * which lists the parameters.
 */
#ifndef KERNEL
#error "rivers_template.h: include kernel_template.h instead"
#endif

/* Browsers download the loops, and need few river samples. */
#ifdef __wasm__
#define RIVER_LOOP _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define RIVER_LOOP KERNEL_IVDEP
#endif

/* Where on P the point nearest to (x, y) lies, 0 to 1. The squared distance goes into *SQUARE. */
static inline float nearest_on(const struct river_piece *p, float x, float y, float *square)
{
    const float u =
        narrow_clamp(((x - p->x) * p->along_x + (y - p->y) * p->along_y) * p->inverse, 0, 1);
    const float dx = x - p->x - u * p->along_x, dy = y - p->y - u * p->along_y;
    *square = dx * dx + dy * dy;
    return u;
}

/* W's columns. */
#define RIVER_COLUMNS(w)                               \
    const int first = (w)->i, count = (w)->i2 - first; \
    const float *restrict x = (w)->x + first

static void river_near(const struct river_piece *piece, const struct river_window *w,
                       struct river_near *near)
{
    const struct river_piece p = *piece;
    RIVER_COLUMNS(w);
    for (int j = w->j; j < w->j2; j++) {
        const float y = w->y[j];
        float *restrict bank = near->bank[j] + first, *restrict level = near->level[j] + first,
                        *restrict order = near->order[j] + first,
                        *restrict half = near->half[j] + first,
                        *restrict depth = near->depth[j] + first;
        RIVER_LOOP
        for (int i = 0; i < count; i++) {
            float square;
            const float u = nearest_on(&p, x[i], y, &square);
            const float across = p.half + u * p.widening, away = sqrtf(square) - across;
            const bool nearer = away < bank[i];
            bank[i] = nearer ? away : bank[i];
            level[i] = nearer ? p.level + u * p.fall : level[i];
            order[i] = nearer ? p.order : order[i];
            half[i] = nearer ? across : half[i];
            depth[i] = nearer ? p.depth : depth[i];
        }
    }
}

/* A valley's sides are hyperbolas, level at the water. From half the reach on they rise above all
 * ground. Aprons beside a course keep other valleys from undermining it. */
#define APRON 20 /* metres beside the water */
static void river_valley(const struct river_piece *piece, const struct river_window *w,
                         struct river_valleys *valleys)
{
    const struct river_piece p = *piece;
    const float flat = p.flat, flat_square = flat * flat;
    RIVER_COLUMNS(w);
    for (int j = w->j; j < w->j2; j++) {
        const float y = w->y[j];
        float *restrict upper = valleys->upper[j] + first, *restrict lower =
                                                               valleys->lower[j] + first;
        float *restrict base = valleys->base[j] + first, *restrict nearness =
                                                             valleys->nearness[j] + first;
        RIVER_LOOP
        for (int i = 0; i < count; i++) {
            float square;
            const float u = nearest_on(&p, x[i], y, &square);
            const float d = sqrtf(square + flat_square) - flat, level = p.level + u * p.fall;
            float far = d * (2.0f / (float)RIVERS_REACH) - 1, off = d - APRON;
            far = far > 0 ? far : 0;
            off = off > 0 ? off : 0;
            const float side = level + p.slope * d + 1500 * far * far;
            const float apron = level - 0.4f * off;
            /* Tested by the distance itself, because a window may have samples farther away. */
            const bool within = square < (float)(RIVERS_REACH * RIVERS_REACH);
            upper[i] = within && side < upper[i] ? side : upper[i];
            lower[i] = within && apron > lower[i] ? apron : lower[i];
            float part = 1 - square * (1.0f / (float)RIVERS_REACH / (float)RIVERS_REACH);
            part = (part > 0 ? part : 0) / (square + (float)(RIVERS_CLOSE * RIVERS_CLOSE));
            base[i] += part * part * level;
            nearness[i] += part * part;
        }
    }
}

/* A node's weight at a place, (1 - d^2 / reach^2)^3. */
static inline float node_weight(float x, float y, float inverse)
{
    const float a = x * inverse, b = y * inverse;
    float w = 1 - a * a - b * b;
    w = w > 0 ? w : 0;
    return w * w * w;
}

static void river_floor(const struct river_node *node, const struct river_window *w,
                        struct river_valleys *valleys)
{
    const float inverse = 1 / node->reach, bed = node->bed;
    RIVER_COLUMNS(w);
    for (int j = w->j; j < w->j2; j++) {
        float *restrict level = valleys->level[j] + first, *restrict weight =
                                                               valleys->weight[j] + first;
        RIVER_LOOP
        for (int i = 0; i < count; i++) {
            const float here = node_weight(x[i], w->y[j], inverse);
            level[i] += here * bed;
            weight[i] += here;
        }
    }
}

static void river_lake(const struct river_node *node, const struct river_window *w,
                       struct river_lakes *lakes)
{
    const float inverse = 1 / node->reach, bed = node->bed, share = node->share;
    RIVER_COLUMNS(w);
    for (int j = w->j; j < w->j2; j++) {
        float *restrict level = lakes->level[j] + first, *restrict weight =
                                                             lakes->weight[j] + first;
        RIVER_LOOP
        for (int i = 0; i < count; i++) {
            const float here = node_weight(x[i], w->y[j], inverse) * share;
            level[i] += here * bed;
            weight[i] += here;
        }
    }
}

/* --- Values --- */

/* How high banks are above the water, in metres; how far from it they are level. */
#define BANK_HEIGHT 0.4f
#define BANK_SHELF 10.0f
/* How silt rises from a lake's shore to the hollow's rim; the greatest depth, in metres. */
#define SILT 0.06f
#define LAKE_DEPTH 60
/* How far a lake's dam falls to both sides, in metres; on the outside, where the weight has fallen
 * to 0. Within DAM_CREST of the shore's weight it is level. */
#define DAM_FALL 150.0f
#define DAM_CREST 0.05f

/* 0 where lake weights are 0, 1 in lakes. */
static inline float lakeness(float weight)
{
    return narrow_clamp(weight * (1 / RIVERS_SHORE), 0, 1);
}

/* The lake level SUM / WEIGHT; 0 without a lake. */
static inline float lake_level(float sum, float weight)
{
    return sum / (weight > 1e-6f ? weight : 1e-6f);
}

/* Ground at a lake. A dam stands along the shore where the ground is lower. */
static inline float dammed(float ground, float level, float weight)
{
    const float off = fabsf(weight * (1 / RIVERS_SHORE) - 1) - DAM_CREST;
    const float dam = level + BANK_HEIGHT - DAM_FALL * (off > 0 ? off : 0);
    return weight > 0 && ground < dam ? dam : ground;
}

static void river_carve(const struct river_valleys *valleys, float shallow, int j, int n,
                        const float *ground, float *out)
{
    /* Ground and valley are joined smoothly within so many metres. */
    static const float JOIN = 10;
    const float *restrict upper = valleys->upper[j], *restrict lower = valleys->lower[j],
                          *restrict level = valleys->level[j],
                          *restrict weight = valleys->weight[j],
                          *restrict lake = valleys->lakes.weight[j],
                          *restrict sum = valleys->lakes.level[j];
    RIVER_LOOP
    for (int i = 0; i < n; i++) {
        const float h = ground[i], in_lake = smoothstep(lakeness(lake[i]));
        const float floor = level[i] / (weight[i] > 1e-6f ? weight[i] : 1e-6f);
        /* Hollows are filled up to the beds around them, and a little higher; deep ones less. */
        const float hollow = weight[i] > 1e-6f && floor > h ? floor - h : 0;
        float silt = SILT * hollow * (1 - hollow * shallow);
        silt = silt > -LAKE_DEPTH ? silt : -LAKE_DEPTH;
        float to = h + (hollow + silt) * smoothstep(h * 0.25f);
        const float apart = to > upper[i] ? to - upper[i] : upper[i] - to;
        const float near = apart < JOIN ? 1 - apart * (1 / JOIN) : 0;
        to = (to < upper[i] ? to : upper[i]) - near * near * (JOIN / 4);
        const float apron = lower[i] - 200 * in_lake;
        to = to < apron && h > 0 ? apron : to;
        out[i] = dammed(to, lake_level(sum[i], lake[i]), lake[i]);
    }
}

static void river_channel(const struct river_near *near, int j, int n, const float *ground,
                          float *out)
{
    const float *restrict bank = near->bank[j], *restrict level = near->level[j],
                          *restrict half = near->half[j], *restrict depth = near->depth[j],
                          *restrict lake = near->lakes.weight[j],
                          *restrict sum = near->lakes.level[j];
    const float sea = near->sea;
    RIVER_LOOP
    for (int i = 0; i < n; i++) {
        const float l = lake_level(sum[i], lake[i]), h = dammed(ground[i], l, lake[i]);
        const float d = bank[i], dry = d > 0 ? d : 0;
        float off = dry - BANK_SHELF - half[i];
        off = off > 0 ? off : 0;
        /* How much a course merges with the lake around it. */
        const float one =
            narrow_clamp(l + 1 - level[i], 0, 1) *
            narrow_clamp((lake[i] - RIVERS_SHORE) * (1 / (DAM_CREST * RIVERS_SHORE)) + 1, 0, 1);
        const float low = level[i] + BANK_HEIGHT - off - 100 * one;
        const float high = level[i] + BANK_HEIGHT + 0.1f * dry + 0.02f * dry * dry;
        const float drowned = narrow_clamp((l - h) * sea, 0, 1);
        const float banked = h < low ? low - (low - h) * drowned : h > high ? high : h;
        /* Under water the bed is a parabola. */
        const float f = half[i] > 0 ? 1 + d / half[i] : 1;
        const float bed = level[i] - depth[i] * (1 - f * f);
        const float wet = h >= bed ? bed : one > 0 ? h : bed - (bed - h) * drowned;
        out[i] = d < 0 ? wet : d < (float)RIVERS_NEAR ? banked : h;
    }
}

static void river_water(const struct river_near *near, int j, int n, const float *ground,
                        float *out)
{
    const float *restrict bank = near->bank[j], *restrict level = near->level[j],
                          *restrict lake = near->lakes.weight[j],
                          *restrict sum = near->lakes.level[j];
    RIVER_LOOP
    for (int i = 0; i < n; i++) {
        const float l = lake_level(sum[i], lake[i]);
        const float still = lake[i] >= RIVERS_SHORE && ground[i] < l ? l : RIVERS_DRY;
        const float running = bank[i] < 0 ? level[i] : RIVERS_DRY;
        out[i] = running > still ? running : still;
    }
}

/* Within REACH metres of the edge. A course in a lake has no order unless it is above the lake. */
static void river_order(const struct river_near *near, int j, int n, float reach, float *out)
{
    const float *restrict bank = near->bank[j], *restrict level = near->level[j],
                          *restrict order = near->order[j], *restrict lake = near->lakes.weight[j],
                          *restrict sum = near->lakes.level[j];
    RIVER_LOOP
    for (int i = 0; i < n; i++) {
        const bool still =
            lake[i] >= RIVERS_SHORE && level[i] <= lake_level(sum[i], lake[i]) + RIVERS_COURSE;
        const float running = still ? 0 : order[i];
        out[i] = bank[i] < reach ? running : 0;
    }
}

#undef RIVER_LOOP
#undef RIVER_COLUMNS
#undef APRON
#undef BANK_HEIGHT
#undef BANK_SHELF
#undef DAM_FALL
#undef DAM_CREST
#undef SILT
#undef LAKE_DEPTH
