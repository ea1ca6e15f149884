/*
 * Graphs with rivers are exact: the same bits from a grid, any part of it, a point, a coarser zoom,
 * alone or beside other fields, on any kernel, in any order. Their derivatives are differences,
 * their nodes are charged for, and what could not be computed is refused.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>

#include "noise/terrain/price.h"
#include "noise/terrain/terrain.h"
#include "tests/unit/support/graph_values.h"
#include "tests/unit/support/sample_graphs.h"

enum { WIDEST = 300, HIGHEST = 60 };

static const char *const samples[] = {
    "drain",
    "drainage",
    "base level",
    "bank",
    "water",
    "river",
    "channel",
    "channel of eroded valleys",
    "bank of a drainage",
    "channel of a drainage",
};

static struct farlands_scratch *scratch;

static void set_up(void)
{
    scratch = reference_scratch();
}

static void tear_down(void)
{
    farlands_scratch_free(scratch);
}

static int last_of(const struct program *program)
{
    return program->place[program->count - 1];
}

/* A grid that shows some rivers, or part of one. */
static struct farlands_grid draw_rivers(struct draws *draws)
{
    static const int64_t steps[] = {BLOCKS(1), BLOCKS(3) + 1, BLOCKS(8), BLOCKS(50), BLOCKS(700)};
    static const int64_t origins[] = {0, 0, 0, FARLANDS_LIMIT, -FARLANDS_LIMIT};
    const struct farlands_grid grid = {
        .x = DRAW_ONE(draws, origins) + draw_between(draws, -BLOCKS(40000), BLOCKS(40000)),
        .y = DRAW_ONE(draws, origins) + draw_between(draws, -BLOCKS(40000), BLOCKS(40000)),
        .step = DRAW_ONE(draws, steps),
        .width = (int)draw_between(draws, 1, draw_once_in(draws, 2) ? 20 : WIDEST),
        .height = (int)draw_between(draws, 1, draw_once_in(draws, 2) ? 4 : HIGHEST),
        .band_limit = draw_once_in(draws, 3),
    };
    return grid;
}

static void must_be_same(const char *sample, const struct farlands_grid *grid, int s, float value,
                         float expected, const char *how)
{
    must(float_bits(value) == float_bits(expected), "%s; %s, sample %d: %s %.9g, expected %.9g",
         sample, grid_text(grid), s, how, (double)value, (double)expected);
}

/* --- Exact --- */

START_TEST(kernels_agree)
{
    static const char *const names[] = {"avx512", "avx2", "neon", "scalar"};
    struct program *program = sample_program(samples[_i]);
    struct draws draws = {7000 + (uint64_t)_i, 0};
    for (int g = 0; g < 8; g++) {
        const struct farlands_grid grid = draw_rivers(&draws);
        float *first = NULL;
        for (int n = 0; n < LENGTH(names); n++) {
            setenv("FARLANDS_KERNEL", names[n], 1);
            const struct kernel *kernel = kernel_choose();
            if (!kernel)
                continue;
            struct farlands_scratch *own = reference_scratch();
            float *values = graph_values(program, kernel, own, &grid, last_of(program));
            for (int s = 0; first && s < grid.width * grid.height; s++)
                must_be_same(samples[_i], &grid, s, values[s], first[s], names[n]);
            if (first)
                free(values);
            else
                first = values;
            farlands_scratch_free(own);
        }
        ck_assert_ptr_nonnull(first);
        free(first);
    }
    program_free(program);
}
END_TEST

/* Parts and points, with what the scratch remembers of other places; a new scratch now and then. */
START_TEST(parts_are_the_whole)
{
    struct program *program = sample_program(samples[_i]);
    struct draws draws = {7100 + (uint64_t)_i, 0};
    for (int g = 0; g < 12; g++) {
        const struct farlands_grid grid = draw_rivers(&draws);
        struct farlands_scratch *own = reference_scratch();
        float *whole = graph_values(program, kernel_choose(), own, &grid, last_of(program));
        for (int k = 0; k < 12; k++) {
            const bool point = draw_once_in(&draws, 2);
            const int i = (int)draw_between(&draws, 0, grid.width - 1);
            const int j = (int)draw_between(&draws, 0, grid.height - 1);
            struct farlands_grid part = grid;
            part.x += i * grid.step;
            part.y += j * grid.step;
            part.width = point ? 1 : (int)draw_between(&draws, 1, grid.width - i);
            part.height = point ? 1 : (int)draw_between(&draws, 1, grid.height - j);
            float *some = graph_values(program, kernel_choose(), scratch, &part, last_of(program));
            for (int s = 0; s < part.width * part.height; s++)
                must_be_same(samples[_i], &part, s, some[s],
                             whole[(j + s / part.width) * grid.width + i + s % part.width],
                             "as a part");
            free(some);
        }
        free(whole);
        farlands_scratch_free(own);
    }
    program_free(program);
}
END_TEST

/* Rivers as wide as they may be, whose middles are far from their edges. */
START_TEST(wide_rivers_have_no_seams)
{
    enum { SIDE = 256, PART = 16 };
    struct graph_builder b = {0};
    struct graph_fault fault;
    struct program *program = NULL;
    int wet = 0;
    add(&b, GRAPH_BANK, add_drain(&b), -1, -1, 0, 0);
    b.noise[0].wavelength = BLOCKS(65536);
    b.rivers.width = 2000;
    b.rivers.widening = 1;
    b.rivers.meander = 1;
    ck_assert_int_eq(program_new(&program, b.node, b.count, &fault), 0);
    for (int k = 0; k < 8; k++) {
        const struct farlands_grid grid = {
            BLOCKS(4096) * k, BLOCKS(3000), BLOCKS(16), SIDE, SIDE, false};
        float *whole = graph_values(program, kernel_choose(), scratch, &grid, last_of(program));
        for (int p = 0; p < SIDE / PART * (SIDE / PART); p++) {
            const int column = p % (SIDE / PART) * PART, row = p / (SIDE / PART) * PART;
            struct farlands_grid part = grid;
            part.x += column * grid.step;
            part.y += row * grid.step;
            part.width = part.height = PART;
            float *some = graph_values(program, kernel_choose(), scratch, &part, last_of(program));
            for (int i = 0; i < PART * PART; i++)
                must_be_same("wide", &part, i, some[i],
                             whole[(row + i / PART) * SIDE + column + i % PART], "as a part");
            wet += some[0] < 0;
            free(some);
        }
        free(whole);
    }
    must(wet > 20, "%d places in rivers; expected more than 20", wet);
    program_free(program);
}
END_TEST

START_TEST(zooms_nest)
{
    struct program *program = sample_program(samples[_i]);
    struct draws draws = {7200 + (uint64_t)_i, 0};
    for (int g = 0; g < 8; g++) {
        struct farlands_grid fine = draw_rivers(&draws), coarse;
        const int times = (int)draw_between(&draws, 2, 9);
        fine.band_limit = false;
        coarse = fine;
        coarse.step *= times;
        coarse.width = (fine.width - 1) / times + 1;
        coarse.height = (fine.height - 1) / times + 1;
        float *all = graph_values(program, kernel_choose(), scratch, &fine, last_of(program));
        float *some = graph_values(program, kernel_choose(), scratch, &coarse, last_of(program));
        for (int s = 0; s < coarse.width * coarse.height; s++)
            must_be_same(samples[_i], &coarse, s, some[s],
                         all[s / coarse.width * times * fine.width + s % coarse.width * times],
                         "farther apart");
        free(all);
        free(some);
    }
    program_free(program);
}
END_TEST

/* Ground that is the same everywhere has end lakes, and channels that lead to them. */
START_TEST(constant_ground_has_water)
{
    enum { SIDE = 100 };
    struct graph_builder b = {0};
    struct graph_fault fault;
    struct program *program = NULL;
    const int drain = add_drain(&b), level = add(&b, GRAPH_CONSTANT, -1, -1, -1, 7, 0);
    const struct farlands_grid grid = {BLOCKS(-5000), BLOCKS(2500), BLOCKS(16), SIDE, SIDE, false};
    int varies = 0;
    if (_i == 0)
        add(&b, GRAPH_ABS, add(&b, GRAPH_CHANNEL, level, drain, -1, 0, 0), -1, -1, 0, 0);
    else
        b.node[drain].input[0] = level;
    ck_assert_int_eq(program_new(&program, b.node, b.count, &fault), 0);
    const int last = program->place[_i == 0 ? b.count - 1 : drain];
    float *whole = graph_values(program, kernel_choose(), scratch, &grid, last);
    for (int s = 0; s < SIDE * SIDE; s++) {
        struct farlands_grid point = grid;
        point.x += s % SIDE * grid.step;
        point.y += s / SIDE * grid.step;
        point.width = point.height = 1;
        float *value = graph_values(program, kernel_choose(), scratch, &point, last);
        must_be_same("constant", &grid, s, whole[s], *value, "in a grid");
        varies += *value != 7;
        free(value);
    }
    must(varies > 0, "all is level");
    free(whole);
    program_free(program);
}
END_TEST

/* All fields of a drain over hills of BLOCKS, and their operations. */
enum { DRAIN, BASE, BANK, WATER, RIVER, CHANNEL, MASKED, HILLS, FIELDS };

static struct program *all_fields(int operation[FIELDS], double blocks)
{
    struct graph_builder b = {0};
    struct graph_fault fault;
    struct program *program = NULL;
    int node[FIELDS];
    node[DRAIN] = add_drain(&b);
    b.noise[0].wavelength = BLOCKS(blocks);
    node[BASE] = add(&b, GRAPH_BASE_LEVEL, node[DRAIN], -1, -1, 0, 0);
    node[BANK] = add(&b, GRAPH_BANK, node[DRAIN], -1, -1, 0, 0);
    node[RIVER] = add(&b, GRAPH_RIVER, node[DRAIN], -1, -1, 0, 0);
    node[CHANNEL] = add(&b, GRAPH_CHANNEL, node[DRAIN], node[DRAIN], -1, 0, 0);
    node[WATER] = add(&b, GRAPH_WATER, node[CHANNEL], node[DRAIN], -1, 0, 0);
    node[HILLS] = add_hills(&b, 3);
    node[MASKED] = add(&b, GRAPH_MULTIPLY, node[HILLS], node[RIVER], -1, 0, 0);
    ck_assert_int_eq(program_new(&program, b.node, b.count, &fault), 0);
    for (int i = 0; i < FIELDS; i++)
        operation[i] = program->place[node[i]];
    return program;
}

static const struct farlands_grid view = {
    .x = BLOCKS(3000), .y = BLOCKS(22500), .step = BLOCKS(16), .width = 290, .height = 280};

/* Many at once are each alone; a river is a mask; and there is water, at the level of its banks. */
START_TEST(fields_belong_together)
{
    enum { SAMPLES = 290 * 280 };
    static float together[FIELDS][SAMPLES];
    int operation[FIELDS], wet = 0, running = 0, lakes = 0, drawn = 0, based = 0;
    struct program *program = all_fields(operation, 4096);
    struct output outputs[FIELDS];
    for (int i = 0; i < FIELDS; i++)
        outputs[i] = (struct output){operation[i], together[i]};
    ck_assert_int_eq(evaluate(program, kernel_choose(), scratch, &view, outputs, FIELDS, 290), 0);
    for (int i = 0; i < FIELDS; i++) {
        const struct operation *o = &program->operation[operation[i]];
        struct farlands_scratch *own = reference_scratch();
        float *alone = graph_values(program, kernel_choose(), own, &view, operation[i]);
        for (int s = 0; s < SAMPLES; s++) {
            must_be_same(graph_kind_name(o->kind), &view, s, together[i][s], alone[s], "together");
            must(alone[s] >= o->low && alone[s] <= o->high, "%s: %g outside %g to %g",
                 graph_kind_name(o->kind), (double)alone[s], (double)o->low, (double)o->high);
        }
        free(alone);
        farlands_scratch_free(own);
    }
    for (int s = 0; s < SAMPLES; s++) {
        const bool is_wet = together[BANK][s] < 0;
        const bool is_lake = !is_wet && together[WATER][s] > RIVERS_DRY;
        ck_assert(!is_wet || together[WATER][s] > RIVERS_DRY);
        ck_assert(!is_lake || together[CHANNEL][s] < together[WATER][s]);
        ck_assert(is_wet || together[RIVER][s] == 0);
        /* Near a river, unless others join, its level is the base level. */
        based += is_wet && fabsf(together[BASE][s] - together[WATER][s]) < 5;
        running += together[RIVER][s] > 0;
        ck_assert(!is_wet || together[CHANNEL][s] <= together[WATER][s]);
        ck_assert(together[MASKED][s] == together[HILLS][s] * together[RIVER][s]);
        wet += is_wet;
        lakes += is_lake;
        drawn += together[CHANNEL][s] != together[DRAIN][s];
    }
    must(based > wet * 9 / 10, "%d of %d in courses at the base level", based, wet);
    must(running > wet / 2 && wet > 20 && lakes > 50 && drawn > 2 * wet &&
             wet + lakes < SAMPLES / 4,
         "%d in rivers, %d in courses, %d in lakes, %d changed", running, wet, lakes, drawn);
    program_free(program);
}
END_TEST

/* Rivers are where they are, in pictures that show the finest level, too, and 2 samples wider;
 * valleys and lakes lie on other ground. */
START_TEST(pictures_show_the_same_water)
{
    int operation[FIELDS];
    struct program *program = all_fields(operation, 4096);
    struct farlands_grid picture = view;
    picture.band_limit = true;
    float *bank = graph_values(program, kernel_choose(), scratch, &view, operation[BANK]);
    float *banks = graph_values(program, kernel_choose(), scratch, &picture, operation[BANK]);
    float *order = graph_values(program, kernel_choose(), scratch, &view, operation[RIVER]);
    float *orders = graph_values(program, kernel_choose(), scratch, &picture, operation[RIVER]);
    int wider = 0;
    for (int s = 0; s < view.width * view.height; s++) {
        must_be_same("picture", &picture, s, banks[s], bank[s], "filtered");
        if (bank[s] < 0)
            must_be_same("picture", &picture, s, orders[s], order[s], "filtered");
        ck_assert(orders[s] == 0 || bank[s] < 32);
        wider += orders[s] > 0 && bank[s] >= 0;
    }
    ck_assert_int_gt(wider, 50);
    free(bank);
    free(banks);
    free(order);
    free(orders);
    program_free(program);
}
END_TEST

/* Pictures whose samples are a quarter of the spacing apart, and a unit more. */
START_TEST(pictures_from_far_are_dry)
{
    enum { SIDE = 40 };
    int operation[FIELDS];
    struct program *program = all_fields(operation, 65536);
    const int ground = program->operation[operation[DRAIN]].input[0];
    for (int farther = 0; farther < 2; farther++) {
        const struct farlands_grid grid = {5, 7, BLOCKS(2048) + farther, SIDE, SIDE, true};
        float *before = graph_values(program, kernel_choose(), scratch, &grid, ground);
        float *after[FIELDS];
        int changed = 0;
        for (int i = 0; i < FIELDS; i++)
            after[i] = graph_values(program, kernel_choose(), scratch, &grid, operation[i]);
        for (int s = 0; s < SIDE * SIDE; s++) {
            changed += after[DRAIN][s] != before[s];
            ck_assert(!farther || after[CHANNEL][s] == before[s]);
            ck_assert(!farther || after[BANK][s] == RIVERS_NEAR);
            ck_assert(!farther || after[WATER][s] == RIVERS_DRY);
            ck_assert(!farther || (after[RIVER][s] == 0 && after[MASKED][s] == 0));
        }
        must((changed > 0) == !farther, "%d changed; expected %s", changed,
             farther ? "none" : "some");
        for (int i = 0; i < FIELDS; i++)
            free(after[i]);
        free(before);
    }
    program_free(program);
}
END_TEST

/* However far apart the samples of a picture are, it knows of rivers 2 samples away. */
START_TEST(coarse_pictures_show_banks)
{
    int operation[FIELDS];
    struct program *program = all_fields(operation, 65536);
    struct farlands_grid fine = view, coarse = view;
    fine.step = BLOCKS(128);
    coarse.step = BLOCKS(256);
    fine.band_limit = coarse.band_limit = true;
    coarse.width = coarse.height = 140;
    float *exact = graph_values(program, kernel_choose(), scratch, &fine, operation[BANK]);
    float *far = graph_values(program, kernel_choose(), scratch, &coarse, operation[BANK]);
    int beyond = 0;
    for (int s = 0; s < coarse.width * coarse.height; s++) {
        ck_assert(far[s] <= RIVERS_NEAR);
        beyond += far[s] < RIVERS_NEAR &&
                  exact[s / coarse.width * 2 * fine.width + s % coarse.width * 2] == RIVERS_NEAR;
    }
    must(beyond > 100, "%d places beyond; expected more than 100", beyond);
    free(exact);
    free(far);
    program_free(program);
}
END_TEST

/* Programs that differ in the drain alone, one after the other at the same places; and a program
 * that was freed. */
START_TEST(programs_share_no_rivers)
{
    struct graph_builder b = {0};
    struct graph_fault fault;
    const int bank = add(&b, GRAPH_BANK, add_drain(&b), -1, -1, 0, 0);
    const struct farlands_grid small = {BLOCKS(-5000), BLOCKS(2500), BLOCKS(64), 70, 70, false};
    float *before = NULL;
    uint64_t id = 0;
    for (int change = 0; change < 10; change++) {
        struct program *program = NULL;
        const struct rivers_params kept = b.rivers;
        b.rivers.spacing *= change == 1 ? 2 : 1;
        b.rivers.levels -= change == 2;
        b.rivers.seed += change == 3;
        b.rivers.from += change == 4 ? 2 : 0;
        b.rivers.width += change == 5 ? 1 : 0;
        b.rivers.widening += change == 6 ? 0.1 : 0;
        b.rivers.meander += change == 7 ? 0.1 : 0;
        b.rivers.depth += change == 8 ? 0.1 : 0;
        b.rivers.slope += change == 9 ? 0.1 : 0;
        ck_assert_int_eq(program_new(&program, b.node, b.count, &fault), 0);
        struct farlands_scratch *own = reference_scratch();
        float *used = graph_values(program, kernel_choose(), scratch, &small, program->place[bank]);
        float *fresh = graph_values(program, kernel_choose(), own, &small, program->place[bank]);
        const size_t size = (size_t)small.width * (size_t)small.height * sizeof *used;
        ck_assert(memcmp(used, fresh, size) == 0);
        must(change == 0 || program->id != id, "change %d has the same id", change);
        must(change == 0 || change > 7 || memcmp(used, before, size) != 0, "change %d", change);
        free(fresh);
        if (change == 0) {
            before = used;
            id = program->id;
        } else {
            free(used);
        }
        farlands_scratch_free(own);
        program_free(program);
        b.rivers = kept;
    }
    free(before);
}
END_TEST

/* A lattice over the drain changes no water. */
START_TEST(lattices_keep_the_rivers)
{
    struct graph_builder b = {0};
    struct graph_fault fault;
    struct program *program = NULL;
    const int drain = add_drain(&b);
    const int lattice = add(&b, GRAPH_LATTICE, drain, -1, -1, (double)BLOCKS(64), 0);
    const int bank = add(&b, GRAPH_BANK, drain, -1, -1, 0, 0);
    const int other = add(&b, GRAPH_BANK, lattice, -1, -1, 0, 0);
    ck_assert_int_eq(program_new(&program, b.node, b.count, &fault), 0);
    float *one = graph_values(program, kernel_choose(), scratch, &view, program->place[bank]);
    float *two = graph_values(program, kernel_choose(), scratch, &view, program->place[other]);
    ck_assert(memcmp(one, two, (size_t)view.width * (size_t)view.height * sizeof *one) == 0);
    free(one);
    free(two);
    program_free(program);
}
END_TEST

/* --- Derivatives --- */

START_TEST(derivatives_are_differences)
{
    enum { SIDE = 40 };
    static float value[SIDE * SIDE], dx[SIDE * SIDE], dy[SIDE * SIDE];
    struct program *program = sample_program("channel of eroded valleys");
    const int64_t half = FARLANDS_UNIT / 2;
    const struct farlands_grid grid = {BLOCKS(-4000), BLOCKS(4000), BLOCKS(50), SIDE, SIDE, false};
    int steep = 0;
    ck_assert_int_eq(evaluate_derivatives(program, kernel_choose(), scratch, &grid,
                                          last_of(program), value, dx, dy, SIDE),
                     0);
    float *whole = graph_values(program, kernel_choose(), scratch, &grid, last_of(program));
    ck_assert(memcmp(whole, value, sizeof value) == 0);
    free(whole);
    for (int s = 0; s < SIDE * SIDE; s += 7) {
        const int64_t x = grid.x + s % SIDE * grid.step, y = grid.y + s / SIDE * grid.step;
        float around[4];
        for (int k = 0; k < 4; k++) {
            const int64_t by = k % 2 ? half : -half;
            const struct farlands_grid point = {
                x + (k < 2 ? by : 0), y + (k < 2 ? 0 : by), 1, 1, 1, false};
            float *at = graph_values(program, kernel_choose(), scratch, &point, last_of(program));
            around[k] = *at;
            free(at);
        }
        ck_assert_float_eq(dx[s], around[1] - around[0]);
        ck_assert_float_eq(dy[s], around[3] - around[2]);
        steep += dx[s] != 0 && dy[s] != 0;
    }
    ck_assert_int_gt(steep, 100);
    program_free(program);
}
END_TEST

/* --- Stack --- */

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || defined __SANITIZE_MEMORY__ || \
    !defined __OPTIMIZE__
#define LARGE_FRAMES 1
#else
#define LARGE_FRAMES 0
#endif

/* Of 128 KiB that a call may need: other graphs are deeper. */
enum { STACK = 1 << 20, MOST_STACK = 80 << 10, UNUSED = 0xa5 };

static void *evaluate_on_stack(void *context)
{
    float value;
    const struct program *program = context;
    const struct farlands_grid point = {BLOCKS(-4000), BLOCKS(4000), 1, 1, 1, false};
    const struct output output = {last_of(program), &value};
    ck_assert_int_eq(evaluate(program, kernel_choose(), scratch, &point, &output, 1, 1), 0);
    return NULL;
}

/* Each level looks for nodes of the one before, on top of lattices, and the ground has some, too.
 */
START_TEST(little_stack_is_needed)
{
    struct graph_builder b = {0};
    struct graph_fault fault;
    struct program *program = NULL;
    sample_moved_by_fine_noise(&b);
    b.noise[b.count - 1].basis = FARLANDS_SIMPLEX;
    int ground = add_erosion(&b, b.count - 1, 4096, 256);
    for (int i = 0; i < 5; i++)
        ground = add(&b, GRAPH_LATTICE, ground, -1, -1, (double)BLOCKS(256), 0);
    const int drain = add(&b, GRAPH_DRAIN, ground, -1, -1, 0, 0);
    add_drain(&b);
    b.node[drain].rivers = &b.rivers;
    b.rivers.spacing = BLOCKS(65536);
    b.rivers.levels = 5;
    b.rivers.widening = 1.5;
    add(&b, GRAPH_CHANNEL, add(&b, GRAPH_LATTICE, drain, -1, -1, (double)BLOCKS(16), 0), drain, -1,
        0, 0);
    ck_assert_int_eq(program_new(&program, b.node, b.count, &fault), 0);
    unsigned char *stack = aligned_alloc(4096, STACK);
    ck_assert_ptr_nonnull(stack);
    memset(stack, UNUSED, STACK);
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstack(&attributes, stack, STACK), 0);
    ck_assert_int_eq(pthread_create(&thread, &attributes, evaluate_on_stack, program), 0);
    pthread_join(thread, NULL);
    int left = 0;
    while (left < STACK && stack[left] == UNUSED)
        left++;
    must(LARGE_FRAMES || STACK - left < MOST_STACK, "%d bytes of stack; expected less than %d",
         STACK - left, MOST_STACK);
    must(STACK - left > 16 << 10, "%d bytes of stack; expected more than %d", STACK - left,
         16 << 10);
    pthread_attr_destroy(&attributes);
    free(stack);
    program_free(program);
}
END_TEST

/* --- Time --- */

/* Nanoseconds per sample. */
static double price_of(const struct program *program, int operation, int64_t step, bool band_limit)
{
    enum { SIDE = 256 };
    uint64_t own[GRAPH_MAX_NODES], node[GRAPH_MAX_NODES];
    const struct price_square square = {step, SIDE, band_limit};
    price_nodes(program, node);
    return (double)price_square(program, node, operation, square, own) / (1000.0 * SIDE * SIDE);
}

/* Nodes take time, once for all fields; far apart each sample needs its own, but pictures none. */
START_TEST(nodes_are_charged)
{
    int operation[FIELDS];
    struct program *program = all_fields(operation, 4096);
    const int ground = program->operation[operation[DRAIN]].input[0];
    const double plain = price_of(program, ground, BLOCKS(8), false);
    const double near = price_of(program, operation[DRAIN], BLOCKS(8), false);
    const double both = price_of(program, operation[CHANNEL], BLOCKS(8), false);
    const double far = price_of(program, operation[CHANNEL], BLOCKS(8192), false);
    must(near > plain + 30, "%g ns with rivers, %g ns without; expected 30 more", near, plain);
    must(both < 1.2 * near, "%g ns for both; expected less than 1.2 times %g", both, near);
    must(far > 1e6, "%g ns far apart; expected more than 1e6", far);
    ck_assert(price_of(program, operation[CHANNEL], BLOCKS(8192), true) ==
              price_of(program, ground, BLOCKS(8192), true));
    const struct dear_tile tile = price_dearest(program, operation, FIELDS);
    must(tile.price < PRICE_SECOND, "%g s; expected less than 1",
         (double)tile.price / (double)PRICE_SECOND);
    must(tile.step <= TERRAIN_FAR, "step %" PRId64 "; expected at most %" PRId64, tile.step,
         (int64_t)TERRAIN_FAR);
    program_free(program);
}
END_TEST

/* --- What is refused --- */

static void expect_fault(const struct graph_builder *b, const char *key, const char *text)
{
    struct program *program;
    struct graph_fault fault;
    ck_assert_int_eq(program_new(&program, b->node, b->count, &fault), -EINVAL);
    ck_assert_str_eq(fault.key, key);
    must(strstr(fault.text, text), "\"%s\"; expected \"%s\" in it", fault.text, text);
    ck_assert_int_eq(fault.node, b->count - 1);
}

START_TEST(what_has_no_rivers_is_refused)
{
    static const enum graph_kind kinds[] = {GRAPH_BASE_LEVEL, GRAPH_BANK, GRAPH_WATER, GRAPH_RIVER,
                                            GRAPH_CHANNEL};
    struct graph_builder b = {0};
    const int drain = add_drain(&b), hills = add_hills(&b, 1);
    const int first = add(&b, GRAPH_LATTICE, drain, -1, -1, (double)BLOCKS(64), 0);
    const int second = add(&b, GRAPH_LATTICE, first, -1, -1, (double)BLOCKS(64), 0);
    const int other[] = {hills, second};
    for (int i = 0; i < LENGTH(kinds); i++)
        for (int k = 0; k < LENGTH(other); k++) {
            const bool channel = kinds[i] == GRAPH_CHANNEL || kinds[i] == GRAPH_WATER;
            add(&b, kinds[i], channel ? hills : other[k], channel ? other[k] : -1, -1, 0, 0);
            expect_fault(&b, channel ? "drain" : "input", "expected a field that is a drain");
            b.count--;
        }
}
END_TEST

/* Between the drains are a channel and gullies. */
START_TEST(drains_of_drains_are_refused)
{
    struct graph_builder b = {0};
    sample_eroded_valleys(&b);
    const int again = add(&b, GRAPH_DRAIN, b.count - 1, -1, -1, 0, 0);
    b.node[again].rivers = &b.rivers;
    expect_fault(&b, "of", "expected ground without another drain");
}
END_TEST

START_TEST(drains_are_counted)
{
    struct graph_builder b = {0};
    struct graph_fault fault;
    struct program *program = NULL;
    for (int i = 0; i < GRAPH_MAX_DRAINS; i++)
        add_drain(&b);
    ck_assert_int_eq(program_new(&program, b.node, b.count, &fault), 0);
    program_free(program);
    add_drain(&b);
    expect_fault(&b, "drain", "expected at most 4");
}
END_TEST

static const struct {
    int64_t spacing;
    int levels;
    const char *key;
} refusals[] = {
    {BLOCKS(8192), 1, "levels"},   {BLOCKS(8192), 6, "levels"},    {BLOCKS(8193), 3, "spacing"},
    {BLOCKS(8192), 5, "spacing"},  {BLOCKS(524288), 4, "spacing"}, {0, 4, "spacing"},
    {-BLOCKS(8192), 3, "spacing"},
};

START_TEST(shapes_are_refused)
{
    struct graph_builder b = {0};
    add_drain(&b);
    b.rivers.spacing = refusals[_i].spacing;
    b.rivers.levels = refusals[_i].levels;
    expect_fault(&b, refusals[_i].key, "expected");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_rivers");
    TCase *tests = suite_case(suite, "exact");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, kernels_agree, 0, LENGTH(samples));
    tcase_add_loop_test(tests, parts_are_the_whole, 0, LENGTH(samples));
    tcase_add_test(tests, wide_rivers_have_no_seams);
    tcase_add_loop_test(tests, zooms_nest, 0, LENGTH(samples));
    tcase_add_loop_test(tests, constant_ground_has_water, 0, 2);
    tcase_add_test(tests, fields_belong_together);
    tcase_add_test(tests, pictures_show_the_same_water);
    tcase_add_test(tests, coarse_pictures_show_banks);
    tcase_add_test(tests, pictures_from_far_are_dry);
    tcase_add_test(tests, programs_share_no_rivers);
    tcase_add_test(tests, lattices_keep_the_rivers);
    tcase_add_test(tests, derivatives_are_differences);
    tcase_add_test(tests, little_stack_is_needed);
    tcase_add_test(tests, nodes_are_charged);
    tests = suite_case(suite, "refused");
    tcase_add_test(tests, what_has_no_rivers_is_refused);
    tcase_add_test(tests, drains_of_drains_are_refused);
    tcase_add_test(tests, drains_are_counted);
    tcase_add_loop_test(tests, shapes_are_refused, 0, LENGTH(refusals));
    return suite_run(suite);
}
