/* Predicted costs against measured ones: random requests of random worlds, under every kernel. */
#include "server/world/cost.h"

#include <math.h>

#include "server/tiles/render.h"
#include "server/world/cost_rates.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

enum {
    WORLDS = 22,
    REQUESTS = 6,    /* of each world and kind */
    LEAST_US = 20,   /* cheaper requests are not compared */
    MOST_US = 20000, /* nor are dearer ones: the test would take minutes */
    GRAPH_REQUESTS = 25,
    GRAPH_MOST_US = 150 * 1000, /* nodes of a drain take tens of milliseconds */
    GRAPH_OUTSIDE = 15,         /* percent of them that may be */
    /* Predictions for graphs may be so many times too long: masks spare much of their work. */
    GRAPH_OVER = 8,
    REPEATS = 3,  /* the fastest counts, the others may have been disturbed */
    ATTEMPTS = 3, /* of a request that is outside: the machine may have been busy */
    ROUNDS = 8,   /* if too many are: it may change its speed while rates are measured */
};

static struct render_scratch *scratch;
static struct worlds *worlds;
static struct draws draws = {.seed = 14};

static int64_t between(int64_t low, int64_t high)
{
    return draw_between(&draws, low, high);
}

/* 2^LOW .. 2^HIGH, evenly spread in the logarithm. */
static int64_t power_between(int low, int high)
{
    return INT64_C(1) << between(low, high);
}

static int side(void)
{
    static const int sides[] = {1, 2, 5, 16, 17, 33, 64, 100, 256, 257, 512, 1000, 2048, 4097};
    return sides[between(0, ROWS(sides) - 1)];
}

/* --- Random worlds --- */

static struct farlands_params random_params(const struct farlands_params *usual, int number)
{
    struct farlands_params p = *usual;
    p.basis = (enum farlands_basis)(number % FARLANDS_BASES);
    p.fractal = (enum farlands_fractal)(number / FARLANDS_BASES % FARLANDS_FRACTALS);
    p.hash = (enum farlands_hash)between(0, FARLANDS_HASHES - 1);
    p.fade = (enum farlands_fade)between(0, FARLANDS_FADES - 1);
    p.gradients = (enum farlands_gradients)between(0, FARLANDS_GRADIENT_SETS - 1);
    p.wavelength = power_between(14, 36);
    p.lacunarity = between(0, 1) ? 2 : 1.9;
    p.octaves = (int)between(1, 21);
    if (between(0, 2) == 0) {
        p.warp.amplitude = power_between(8, 26);
        p.warp.wavelength = power_between(12, 30);
    }
    if (p.basis != FARLANDS_SIMPLEX && p.lacunarity == 2 && between(0, 3) == 0)
        p.period = INT64_C(1) << 40;
    while (p.octaves > 1 && params_fault(&p, NULL))
        p.octaves--;
    p.volume = draw_volume(&draws, p);
    return p;
}

static void make_worlds(const char *kernel)
{
    setenv("FARLANDS_KERNEL", kernel, 1);
    struct config *config = config_of(FRACTAL_WORLD);
    struct world_config *one = config->worlds, *many = calloc(WORLDS, sizeof *many);
    for (int i = 0; i < WORLDS; i++) {
        many[i] = *one;
        many[i].layers = ~0u;
        if (i > 0)
            many[i].terrain = random_params(&one->terrain, i);
        const char *key = "", *fault = params_fault(&many[i].terrain, &key);
        must(!fault, "%s: %s: %s", reference_params_text(&many[i].terrain), key, fault);
    }
    config->worlds = many;
    config->world_count = WORLDS;
    ck_assert_int_eq(worlds_new(&worlds, config, NULL), 0);
    config->worlds = one;
    config->world_count = 1;
    free(many);
    config_free(config);
}

/* --- Random requests --- */

enum request_kind { TILE, REGION, VOLUME, POINTS, KINDS };

struct request {
    enum request_kind kind;
    const struct world *world;
    struct tile tile;
    struct farlands_grid grid;
    struct farlands_box box;
    enum format format;
    int layer; /* of a region as a picture */
    int field; /* of a region */
    int count;
};

static struct request random_request(const struct world *world, enum request_kind kind)
{
    struct request r = {.kind = kind, .world = world};
    struct farlands_grid grid;
    switch (kind) {
    case TILE:
        do {
            r.tile =
                (struct tile){.world = world,
                              .layer = (int)between(0, 6),
                              .scale = (int)between(1, 2),
                              .z = (int)between(world_min_zoom(world), world_max_zoom(world, 2)),
                              .x = between(-1, 1),
                              .y = between(-1, 1)};
            do
                r.tile.format = (enum format)between(0, FORMATS - 1);
            while (!(layers[r.tile.layer].formats >> r.tile.format & 1));
        } while (tile_grid(&r.tile, &grid, NULL));
        break;
    case REGION:
        do
            r.grid = (struct farlands_grid){.x = between(-1, 1) * power_between(0, 40),
                                            .y = between(-1, 1) * power_between(0, 40),
                                            .step = power_between(0, 30),
                                            .width = side(),
                                            .height = side()};
        while (r.grid.width * r.grid.height > RENDER_PIECE_MAX);
        r.format = (enum format)between(0, FORMATS - 1);
        r.layer = r.format == FORMAT_PNG ? (int)between(0, 6) : layer_find("height");
        r.grid.band_limit = r.format == FORMAT_PNG && !layers[r.layer].exact;
        break;
    case VOLUME:
        do
            r.box = (struct farlands_box){.x = between(-1, 1) * power_between(0, 30),
                                          .y = between(-1, 1) * power_between(0, 30),
                                          .z = between(-8, 8) * power_between(8, 18),
                                          .step = power_between(0, 20),
                                          .width = side(),
                                          .height = side(),
                                          .depth = side()};
        while ((int64_t)r.box.width * r.box.height * r.box.depth > RENDER_PIECE_MAX);
        break;
    default:
        r.count = (int)between(1, 200);
    }
    return r;
}

static uint32_t predict(const struct request *r)
{
    switch (r->kind) {
    case TILE:
        return cost_of_tile(&r->tile);
    case REGION:
        return cost_of_region(r->world, &r->grid, r->format, r->layer, r->field);
    case VOLUME:
        return cost_of_volume(r->world, NULL, &r->box);
    default:
        return cost_of_points(r->world, 0, (uint64_t)r->count, INFINITY);
    }
}

static void run(const struct request *r)
{
    const struct content content = {r->world, r->layer, r->field,
                                    world_field_range(r->world, r->field)};
    struct blob *blob = NULL;
    struct adler sum;
    volatile float sink = 0;
    int err = 0;
    switch (r->kind) {
    case TILE:
        err = render_tile(&blob, scratch, &r->tile, NULL);
        break;
    case REGION:
        err = r->format == FORMAT_PNG
                  ? render_band(&blob, &sum, scratch, &content, &r->grid, 0)
                  : render_values(&blob, scratch, &content, r->format, &r->grid);
        break;
    case VOLUME:
        err = render_density(&blob, scratch, r->world, &r->box);
        break;
    default:
        for (int i = 0; i < r->count; i++)
            sink = terrain_height(r->world->terrain, i * 100000, -i * 333333);
    }
    (void)sink;
    must(!err, "%d", err);
    blob_release(blob);
}

/* Evaluate heights elsewhere, so that a graph has to compute those of R again. */
static void forget(const struct request *r)
{
    enum { SIDE = 16 };
    float heights[SIDE * SIDE];
    const struct farlands_grid elsewhere = {
        r->grid.x + (INT64_C(1) << 36), r->grid.y, r->grid.step, SIDE, SIDE, false};
    must(terrain_heights(r->world->terrain, render_scratch_noise(scratch), &elsewhere, heights,
                         SIDE) == 0,
         "heights");
    for (int i = 0; i < SIDE; i++)
        terrain_field_at(r->world->terrain, render_scratch_noise(scratch),
                         world_height_field(r->world), elsewhere.x + (((int64_t)i) << 30),
                         elsewhere.y);
}

static double measure(const struct request *r)
{
    double best = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        if (r->world->field_costs)
            forget(r);
        const double start = clock_thread_ns() / 1e3;
        run(r);
        best = fmin(best, clock_thread_ns() / 1e3 - start);
    }
    return best;
}

static const char *text_of(const struct request *r)
{
    static char text[1200];
    const struct farlands_grid *g = &r->grid;
    const struct farlands_box *b = &r->box;
    char path[TILE_PATH_MAX];
    int n = 0;
    switch (r->kind) {
    case TILE:
        n = snprintf(text, sizeof text, "tile %s", tile_path(&r->tile, path));
        break;
    case REGION:
        n = snprintf(text, sizeof text,
                     "region.%s (%s) %d x %d at %" PRId64 ",%" PRId64 " step %" PRId64,
                     format_extension(r->format), layers[r->layer].name, g->width, g->height, g->x,
                     g->y, g->step);
        break;
    case VOLUME:
        n = snprintf(text, sizeof text,
                     "volume %d x %d x %d at %" PRId64 ",%" PRId64 ",%" PRId64 " step %" PRId64,
                     b->width, b->height, b->depth, b->x, b->y, b->z, b->step);
        break;
    default:
        n = snprintf(text, sizeof text, "%d points", r->count);
    }
    n += snprintf(text + n, sizeof text - (size_t)n, " of %s",
                  reference_params_text(&r->world->config.terrain));
    if (r->kind == VOLUME)
        snprintf(text + n, sizeof text - (size_t)n, "; %s",
                 reference_volume_text(&r->world->config.terrain.volume));
    return text;
}

/* --- The comparison --- */

struct tally {
    double most; /* requests that are predicted to take longer are not compared, us */
    double over; /* so many times as long as measured, a prediction is still inside */
    int compared, outside;
    char worst[1400];
    double factor;
};

/* How far PREDICTED is from the measured time: above 2 outside; 1 also if the request is too cheap
 * to compare. */
static double factor_of(const struct request *r, double predicted, double over, double *measured)
{
    *measured = measure(r);
    return *measured < LEAST_US ? 1 : fmax(predicted / *measured * 2 / over, *measured / predicted);
}

static void compare(const struct request *r, struct tally *tally)
{
    const double predicted = predict(r);
    double measured, factor = INFINITY;

    if (predicted > tally->most)
        return;
    for (int i = 0; i < ATTEMPTS && factor > 2; i++)
        factor = factor_of(r, predicted, tally->over, &measured);
    if (measured < LEAST_US)
        return;
    tally->compared++;
    tally->outside += factor > 2;
    if (factor <= tally->factor)
        return;
    tally->factor = factor;
    snprintf(tally->worst, sizeof tally->worst, "predicted %.0f us, measured %.0f: %s", predicted,
             measured, text_of(r));
}

/* Percent of requests that may be outside: tiles, because the time to encode depends on the
 * picture; volumes, because caves are computed only below a surface that is not known before. */
static const struct {
    const char *name;
    int outside;
} kinds[KINDS] = {
    [TILE] = {"tiles", 3},
    [REGION] = {"regions", 4},
    [VOLUME] = {"volumes", 12},
    [POINTS] = {"points", 8},
};

static bool compare_all(const char *kernel, bool last)
{
    bool right = true;
    make_worlds(kernel);
    for (int k = 0; k < KINDS; k++) {
        struct tally tally = {.over = 2, .most = MOST_US};
        for (int w = 0; w < WORLDS; w++)
            for (int i = 0; i < REQUESTS; i++) {
                const struct request r = random_request(&worlds->world[w], (enum request_kind)k);
                compare(&r, &tally);
            }
        printf("%s: %d of %d %s outside; the farthest: %s\n", kernel, tally.outside, tally.compared,
               kinds[k].name, tally.worst);
        const bool within = tally.outside * 100 <= tally.compared * kinds[k].outside;
        must(tally.compared > WORLDS, "%s: only %d %s", kernel, tally.compared, kinds[k].name);
        must(within || !last, "%s: %d of %d %s outside a factor of 2, such as: %s", kernel,
             tally.outside, tally.compared, kinds[k].name, tally.worst);
        right = right && within;
    }
    worlds_release(worlds);
    return right;
}

static const char *const kernels[] = {"avx512", "avx2", "neon", "scalar"};

/* Within a factor of 2. If the machine was too busy for that while it was measured, do it again. */
START_TEST(predicts_the_time)
{
    const char *kernel = kernels[_i];
    setenv("FARLANDS_KERNEL", kernel, 1);
    if (terrain_kernel_fault()) /* not on this machine */
        return;
    ck_assert_int_eq(render_scratch_new(&scratch), 0);
    for (int i = 1; i <= ROUNDS; i++)
        if (compare_all(kernel, i == ROUNDS))
            break;
    render_scratch_free(scratch);
}
END_TEST

/* --- Graphs --- */

/* A region of the surface on land, or a volume around it, some in the air or in the ground. */
static struct request graph_request(const struct world *world, enum request_kind kind)
{
    enum { SPAN = 1 << 20 };
    struct request r = {.kind = kind, .world = world, .format = FORMAT_F32};
    const int64_t step = power_between(8, 20);
    int64_t x, y;
    float height;
    do {
        x = farlands_units(between(-SPAN, SPAN));
        y = farlands_units(between(-SPAN, SPAN));
        height = terrain_field_at(world->terrain, render_scratch_noise(scratch),
                                  world_height_field(world), x, y);
    } while (height < 1);
    r.layer = layer_find("height");
    r.field = world_field_count(world) - 1;
    r.grid = (struct farlands_grid){.x = x,
                                    .y = y,
                                    .step = between(0, 1) ? FARLANDS_UNIT : step,
                                    .width = side(),
                                    .height = side()};
    while (r.grid.width * r.grid.height > 1 << 14)
        r.grid.width = side();
    r.box = (struct farlands_box){.x = x,
                                  .y = y,
                                  .z = farlands_units((int64_t)height + between(-80, 20)),
                                  .step = r.grid.step,
                                  .width = side(),
                                  .height = side(),
                                  .depth = side()};
    while ((int64_t)r.box.width * r.box.height * r.box.depth > RENDER_PIECE_MAX)
        r.box.width = r.box.height = r.box.depth = side();
    return r;
}

static const char *const graphs[] = {"default", "alps", "canyons"};

/* True if nearly all is right; LAST: or else fail. */
static bool compare_graph(const char *name, bool last)
{
    char path[60];
    bool right = true;
    snprintf(path, sizeof path, "config/worlds/%s.yaml", name);
    worlds = worlds_of(path);
    for (int k = REGION; k <= VOLUME; k++) {
        struct tally tally = {.over = GRAPH_OVER, .most = GRAPH_MOST_US};
        for (int i = 0; i < GRAPH_REQUESTS; i++) {
            const struct request r = graph_request(worlds->world, (enum request_kind)k);
            compare(&r, &tally);
        }
        printf("%s: %d of %d %s outside; the farthest: %s\n", name, tally.outside, tally.compared,
               kinds[k].name, tally.worst);
        const bool within = tally.outside * 100 <= tally.compared * GRAPH_OUTSIDE;
        must(within || !last,
             "%s: %d of %d %s more than 2 times too short or 8 too long, such as: %s", name,
             tally.outside, tally.compared, kinds[k].name, tally.worst);
        right = right && within;
    }
    worlds_release(worlds);
    return right;
}

START_TEST(predicts_surfaces_and_volumes_of_graphs)
{
    ck_assert_int_eq(render_scratch_new(&scratch), 0);
    for (int i = 1; i <= ROUNDS; i++)
        if (compare_graph(graphs[_i], i == ROUNDS))
            break;
    render_scratch_free(scratch);
}
END_TEST

/* The shapes of an attack: thin grids and boxes cost by rows, not by samples. */
START_TEST(charges_thin_shapes_by_rows)
{
    make_worlds("");
    const struct world *world = worlds->world;
    struct farlands_grid thin = {.step = INT64_C(1) << 30, .width = 1, .height = 1560};
    struct farlands_grid square = {.step = FARLANDS_UNIT, .width = 40, .height = 39};
    const uint32_t rows = cost_of_region(world, &thin, FORMAT_F32, 0, 0);
    const uint32_t samples = cost_of_region(world, &square, FORMAT_F32, 0, 0);
    ck_assert_msg(rows > 10 * samples, "%u and %u us", rows, samples);
    struct farlands_box box = {
        .z = -2000 * FARLANDS_UNIT, .step = FARLANDS_UNIT, .width = 1, .height = 63, .depth = 4097};
    struct farlands_box cube = {
        .z = -2000 * FARLANDS_UNIT, .step = FARLANDS_UNIT, .width = 64, .height = 64, .depth = 64};
    ck_assert_msg(cost_of_volume(world, NULL, &box) > 4 * cost_of_volume(world, NULL, &cube),
                  "%u and %u us", cost_of_volume(world, NULL, &box),
                  cost_of_volume(world, NULL, &cube));
    worlds_release(worlds);
}
END_TEST

/* A tile of relief costs what its painter takes: with a climate, more than with a palette alone. */
START_TEST(charges_the_painter_of_climate)
{
    const int relief = layer_find("relief");
    worlds = worlds_of(NULL);
    struct world *world = worlds->world;
    ck_assert_ptr_nonnull(world_climate(world));
    for (int i = 0; layers[i].name; i++) {
        const struct layer_rates *rates = &world->rates->layers[i];
        ck_assert_double_gt(rates->climate, 0);
        if (!layers[i].climate)
            ck_assert_double_eq(rates->climate, rates->paint);
    }
    struct layer_rates slow[CONFIG_LAYERS_MAX];
    memcpy(slow, world->rates->layers, sizeof slow);
    slow[relief].climate += 100; /* ns a sample */
    struct cost_rates rates = *world->rates;
    const struct tile tile = {.world = world, .layer = relief, .scale = 1, .z = 10};
    const uint32_t cost = cost_of_tile(&tile);
    rates.layers = slow;
    world->rates = &rates;
    ck_assert_double_eq_tol((double)cost_of_tile(&tile) - cost, 256 * 256 * 100e-3, 2);
    worlds_release(worlds);
}
END_TEST

START_TEST(saturates)
{
    make_worlds("");
    ck_assert_uint_eq(cost_of_points(worlds->world, 0, UINT64_MAX, INFINITY), UINT32_MAX);
    ck_assert_uint_eq(cost_of_points(worlds->world, 0, 0, INFINITY), 0);
    worlds_release(worlds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cost");
    TCase *tcase = suite_case(suite, "cost");
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, charges_thin_shapes_by_rows);
    tcase_add_test(tcase, charges_the_painter_of_climate);
    tcase_add_test(tcase, saturates);
    if (getenv("PREDICTIONS")) { /* of `make bench`: a busy machine must fail no other test */
        TCase *cases = suite_case(suite, "predictions");
        tcase_set_timeout(cases, 300);
        tcase_add_loop_test(cases, predicts_the_time, 0, ROWS(kernels));
        tcase_add_loop_test(cases, predicts_surfaces_and_volumes_of_graphs, 0, ROWS(graphs));
    }
    return suite_run(suite);
}
