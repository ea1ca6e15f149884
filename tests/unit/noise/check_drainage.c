/* Ground that is built by its drainage: the same from everywhere, with a reach, and all of it
 * drains. */
#include "noise/drainage/drainage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/drainage/lakes.h"
#include "tests/unit/support/drainage_source.h"
#include "tests/unit/support/draws.h"
#include "tests/unit/support/fixtures.h"

/* Fields of a world: waves that differ with the seed, with seas between. */
struct land {
    struct wave {
        double x, y, phase; /* turns per metre; turns */
    } wave[5];
    int fail_after; /* grids; 0: never */
    int grids;
    int64_t samples;     /* of all inputs that were asked for */
    int64_t x, y, other; /* the land is another one so far from (x, y), in units; 0: nowhere */
};

static struct land land_of(uint64_t seed)
{
    static const double lengths[] = {60000, 31000, 23000, 17000, 11000};
    struct draws draws = {seed, 0};
    struct land land = {.grids = 0};
    for (int i = 0; i < LENGTH(lengths); i++) {
        const double angle = draw_number(&draws, 0, 6.283);
        land.wave[i] = (struct wave){cos(angle) / lengths[i], sin(angle) / lengths[i],
                                     draw_number(&draws, 0, 1)};
    }
    return land;
}

/* About a sine, which is quick to compute far away, too. */
static double wave_at(const struct wave *w, double x, double y, enum drainage_input input)
{
    const double turns = w->x * x + w->y * y + w->phase + 0.3 * (double)input;
    const double part = turns - floor(turns) - 0.5;
    return 16 * part * (0.5 - fabs(part));
}

static double value_at(const void *of, int64_t x, int64_t y, enum drainage_input input)
{
    const struct land *land = of;
    static const double mean[] = {150, 0.3, 0.6, 900, 0.4, 60, 0.15};
    static const double change[] = {140, 0.08, 0.15, 500, 0.15, 10, 0.1};
    double sum = 0;
    for (int k = 0; k < LENGTH(land->wave); k++)
        sum += wave_at(&land->wave[k], farlands_blocks(x), farlands_blocks(y), input);
    if (land->other > 0 && (llabs(x - land->x) > land->other || llabs(y - land->y) > land->other))
        sum = -sum;
    return mean[input] + change[input] * sum / 2;
}

static int source(void *context, const struct farlands_grid *grid,
                  float *const out[DRAINAGE_INPUTS])
{
    struct land *land = context;
    if (land->fail_after && ++land->grids > land->fail_after)
        return -ENOMEM;
    must(grid->band_limit && grid->width <= INPUT_SIDE && grid->height <= INPUT_SIDE, "a grid");
    land->samples += sample_inputs(value_at, land, grid, out);
    return 0;
}

static const struct drainage_params shapes[] = {
    {1, BLOCKS(65536), 10, 0.45, 0.5, 60, 0.4, 0}, {2, BLOCKS(4096), 6, 0.45, 0.3, 20, 0.2, 0},
    {3, BLOCKS(2048), 4, 0.6, 0, 0, 0, 0},         {4, BLOCKS(32768), 12, 0.3, 1, 500, 1, -150},
    {5, BLOCKS(16384), 8, 0.45, 0.55, 60, 0.4, 0},
};

static struct drainage *drainage_of(const struct drainage_params *params, struct land *land)
{
    struct drainage *drainage = drainage_alone(params, source, land);
    ck_assert_ptr_nonnull(drainage);
    return drainage;
}

/* Square grids of SIDE x SIDE samples, STEP apart, from (X, Y) on. */
enum { MOST = 48 };
struct square {
    int64_t x[MOST], y[MOST];
    int side;
    float height[MOST * MOST];
};

static void place(struct square *s, int64_t x, int64_t y, int64_t step, int side)
{
    s->side = side;
    for (int k = 0; k < side; k++) {
        s->x[k] = x + k * step;
        s->y[k] = y + k * step;
    }
}

static void evaluate(struct drainage *drainage, struct square *s, int64_t band_limit)
{
    const struct drainage_samples all = {s->x, s->y, s->side, s->side};
    for (int k = 0; k < s->side * s->side; k++)
        s->height[k] = NAN;
    ck_assert_int_eq(drainage_heights(drainage, &all, band_limit, s->height, (size_t)s->side), 0);
    for (int k = 0; k < s->side * s->side; k++)
        must(s->height[k] > -2000 && s->height[k] < 15000, "%d: %f", k, (double)s->height[k]);
}

static bool same_bits(const void *a, const void *b, int floats)
{
    return memcmp(a, b, (size_t)floats * sizeof(float)) == 0;
}

/* The width of a cell on the last level, in units. */
static int64_t cell_of(const struct drainage_params *params)
{
    return params->spacing >> (params->levels - 1);
}

START_TEST(heights_do_not_depend_on_what_was_asked)
{
    const struct drainage_params *params = &shapes[_i];
    static struct square grid, elsewhere;
    struct draws draws = {7, (uint64_t)_i};
    struct land land = land_of((uint64_t)_i);
    struct drainage *drainage = drainage_of(params, &land), *other = drainage_of(params, &land);
    for (int turn = 0; turn < 6; turn++) {
        const int64_t far = turn < 3 ? BLOCKS(300000) : INT64_C(1) << 61;
        /* Pictures with samples as far apart as their pixels, or others; of the envelope, too. */
        const int64_t limit = turn > 3   ? BLOCKS(8192)
                              : turn % 2 ? cell_of(params) << draw_between(&draws, 0, 4)
                                         : 0;
        const int64_t step =
            turn % 3 == 2 && limit ? limit : 1 + draw_between(&draws, 0, cell_of(params));
        place(&grid, draw_between(&draws, -far, far), draw_between(&draws, -far, far), step,
              (int)draw_between(&draws, 2, turn % 2 ? 24 : MOST));
        evaluate(drainage, &grid, limit);
        /* The other one comes from elsewhere. */
        place(&elsewhere, grid.x[0] + 300 * cell_of(params), grid.y[0], step, 2);
        evaluate(other, &elsewhere, 0);
        for (int t = 0; t < 12; t++) {
            const int i = (int)draw_between(&draws, 0, grid.side - 1);
            const int j = (int)draw_between(&draws, 0, grid.side - 1);
            const int w = (int)draw_between(&draws, 1, grid.side - i);
            const int h = t < 6 ? 1 : (int)draw_between(&draws, 1, grid.side - j);
            const struct drainage_samples part = {grid.x + i, grid.y + j, t < 6 ? 1 : w, h};
            float out[MOST * MOST];
            ck_assert_int_eq(drainage_heights(t % 2 ? drainage : other, &part, limit, out, MOST),
                             0);
            for (int v = 0; v < part.height; v++)
                must(same_bits(out + v * MOST, grid.height + (j + v) * grid.side + i, part.width),
                     "turn %d: %d x %d at (%d, %d)", turn, part.width, part.height, i, j);
        }
    }
    drainage_free(drainage);
    drainage_free(other);
}
END_TEST

/* The levels of lakes over S; NO_LAKE elsewhere. */
static const float NO_LAKE = -1;
static void find_lakes(struct drainage *drainage, const struct drainage_samples *s,
                       int64_t band_limit, float *level)
{
    for (int k = 0; k < MOST * MOST; k++)
        level[k] = NO_LAKE;
    ck_assert_int_eq(drainage_lakes(drainage, s, band_limit, level, MOST), 0);
}

/* Move to a place with a lake near it: a sample's level is above its height. */
static void find_lake(struct drainage *drainage, struct draws *draws, int64_t *x, int64_t *y)
{
    static struct square wide;
    static float level[MOST * MOST];
    const int64_t far = BLOCKS(300000), step = BLOCKS(512);
    for (int tries = 0; tries < 100; tries++) {
        place(&wide, draw_between(draws, -far, far), draw_between(draws, -far, far), step, MOST);
        evaluate(drainage, &wide, 0);
        find_lakes(drainage, &(struct drainage_samples){wide.x, wide.y, MOST, MOST}, 0, level);
        for (int k = 0; k < MOST * MOST; k++)
            if (level[k] != NO_LAKE && level[k] > wide.height[k]) {
                *x = wide.x[k % MOST];
                *y = wide.y[k / MOST];
                return;
            }
    }
    must(false, "no lake");
}

START_TEST(lakes_do_not_depend_on_what_was_asked)
{
    static struct square grid;
    static float level[MOST * MOST], out[MOST * MOST];
    struct draws draws = {77, 0};
    struct land land = land_of(1);
    struct drainage *drainage = drainage_of(&shapes[0], &land);
    struct drainage *other = drainage_of(&shapes[0], &land);
    int lakes = 0;
    for (int turn = 0; turn < 6; turn++) {
        const int64_t limit = turn % 2 ? cell_of(&shapes[0]) << turn / 2 : 0;
        const int64_t cell = cell_of(&shapes[0]);
        const int64_t step = limit ? limit : draw_between(&draws, cell / 8, 2 * cell);
        int64_t x, y;
        find_lake(drainage, &draws, &x, &y);
        place(&grid, x - MOST / 2 * step, y - MOST / 2 * step, step, MOST);
        find_lakes(drainage, &(struct drainage_samples){grid.x, grid.y, MOST, MOST}, limit, level);
        for (int k = 0; k < MOST * MOST; k++)
            lakes += level[k] != NO_LAKE;
        for (int t = 0; t < 40; t++) {
            const int i = (int)draw_between(&draws, 0, MOST - 1);
            const int j = (int)draw_between(&draws, 0, MOST - 1);
            const int w = t < 20 ? 1 : (int)draw_between(&draws, 1, MOST - i);
            const int h = t < 20 ? 1 : (int)draw_between(&draws, 1, MOST - j);
            const struct drainage_samples part = {grid.x + i, grid.y + j, w, h};
            find_lakes(t % 2 ? drainage : other, &part, limit, out);
            for (int v = 0; v < h; v++)
                must(same_bits(out + v * MOST, level + (j + v) * MOST + i, w),
                     "turn %d: %d x %d at (%d, %d)", turn, w, h, i, j);
        }
    }
    must(lakes > 1000, "%d samples at lakes", lakes);
    drainage_free(drainage);
    drainage_free(other);
}
END_TEST

START_TEST(heights_have_a_reach)
{
    const struct drainage_params *params = &shapes[_i];
    static struct square here, there;
    struct draws draws = {8, (uint64_t)_i};
    for (int turn = 0; turn < 2; turn++) {
        struct land land = land_of(10 + (uint64_t)turn), changed = land;
        const int64_t x = draw_between(&draws, -BLOCKS(100000), BLOCKS(100000));
        changed.x = x;
        changed.y = -x;
        changed.other = DRAINAGE_REACH * params->spacing;
        struct drainage *drainage = drainage_of(params, &land);
        struct drainage *other = drainage_of(params, &changed);
        place(&here, x, -x, cell_of(params), 8);
        place(&there, x, -x, cell_of(params), 8);
        evaluate(drainage, &here, 0);
        evaluate(other, &there, 0);
        must(same_bits(here.height, there.height, 64), "it looks farther");
        drainage_free(drainage);
        drainage_free(other);
    }
}
END_TEST

/* Solve LEVEL's block (I, J) into BLOCK. */
static void solve(struct drainage *drainage, int level, int64_t i, int64_t j,
                  struct drainage_block *block)
{
    ck_assert_int_eq(drainage_solve(drainage, level, i, j), 0);
    drainage_keep_nodes(drainage, block);
}

/* Count the nodes of LEVEL in a row of blocks, and those on land from which no water flows on. */
static void count_pits(struct drainage *drainage, int level, int *land, int *pits)
{
    struct drainage_block *block = calloc(1, sizeof *block);
    *land = *pits = 0;
    for (int i = 0; i < 12; i++) {
        solve(drainage, level, i, 0, block);
        for (int p = 0; p < BLOCK_NODES; p++) {
            *land += block->kind[p] != NODE_SEA;
            *pits += block->height[p] > 0 && block->receiver[p] == NO_RECEIVER;
            must(block->kind[p] != NODE_SEA || block->height[p] <= 0, "a sea at %f m",
                 (double)block->height[p]);
        }
    }
    free(block);
}

START_TEST(water_flows_on)
{
    struct land land = land_of(3);
    struct drainage *drainage = drainage_of(&shapes[0], &land);
    int all, pits;
    for (int level = 3; level < shapes[0].levels; level++) {
        count_pits(drainage, level, &all, &pits);
        must(all > 10000, "level %d: %d nodes on land", level, all);
        must(pits <= all / 500, "level %d: %d pits in %d nodes", level, pits, all);
    }
    drainage_free(drainage);
}
END_TEST

/* Nodes of the level before that do not matter have no place, whatever was there before. */
START_TEST(blocks_read_only_what_matters)
{
    static struct drainage_block block[2];
    struct land land = land_of(6);
    struct drainage *drainage = drainage_of(&shapes[_i], &land);
    struct draws draws = {7, 0};
    for (int n = 0; n < 500; n++) {
        const int level = (int)draw_between(&draws, 1, shapes[_i].levels - 1);
        const int64_t i = draw_between(&draws, -6, 6), j = draw_between(&draws, -6, 6);
        for (int k = 0; k < 3; k++) { /* at first blocks of the level before are solved, too */
            struct drainage_block *b = &block[k / 2];
            struct drainage_patch *patch = drainage->patch;
            for (int at = 0; at < PATCH_NODES; at++) {
                patch->x[at] = k == 1 ? 0 : 30;
                patch->y[at] = k == 1 ? 0 : 30;
                patch->area[at] = k == 1 ? 0 : 1e5f;
                patch->kind[at] = k == 1 ? NODE_SEA : NODE_COURSE;
            }
            memset(b, 0, sizeof *b);
            solve(drainage, level, i, j, b);
        }
        must(memcmp(&block[0], &block[1], sizeof block[0]) == 0,
             "level %d: block %lld, %lld depends on what was solved before", level, (long long)i,
             (long long)j);
    }
    drainage_free(drainage);
}
END_TEST

/* Follow the water of LEVEL's node (I, J), which may be off a course. Returns how many steps it
 * takes to the sea; -1: it ends before. Counts steps upward, which lead from block to block, in
 * RISES. */
static int follow(struct drainage *drainage, int level, int64_t i, int64_t j, int *rises)
{
    enum { MOST_STEPS = 5000, WIDE = 3 };
    struct course_node node[WIDE * WIDE], last = {0};
    for (int step = 0; step < MOST_STEPS; step++) {
        ck_assert_int_eq(drainage_nodes_at(drainage, level, i - 1, j - 1, WIDE, WIDE, node), 0);
        const struct course_node *n = &node[WIDE + 1];
        if (n->kind == COURSE_SEA)
            return step;
        if (step > 0) {
            *rises += n->bed > last.bed + COURSE_METRE;
            must(last.birth > 0 || n->birth == 0, "a course becomes none");
        }
        if (n->kind == COURSE_END)
            return -1;
        last = *n;
        i += drainage_neighbor[n->next][0];
        j += drainage_neighbor[n->next][1];
    }
    return -1;
}

/* On built levels, as rivers see them: water falls, and ends in the sea. */
START_TEST(courses_reach_the_sea)
{
    struct land land = land_of(11);
    struct drainage *drainage = drainage_of(&shapes[0], &land);
    struct draws draws = {12, 0};
    for (int level = 6; level < shapes[0].levels; level += 3) {
        int ends = 0, steps = 0, rises = 0;
        enum { COURSES = 60 };
        for (int k = 0; k < COURSES; k++) {
            const int64_t far = BLOCKS(200000);
            int64_t i, j;
            drainage_nearest(drainage, level, draw_between(&draws, -far, far),
                             draw_between(&draws, -far, far), &i, &j);
            const int to_sea = follow(drainage, level, i, j, &rises);
            ends += to_sea < 0;
            steps += to_sea > 0 ? to_sea : 0;
        }
        must(ends == 0 && steps > COURSES && rises <= steps / 100,
             "level %d: %d of %d end inland, %d steps, %d upward", level, ends, COURSES, steps,
             rises);
    }
    drainage_free(drainage);
}
END_TEST

/* A grid of nodes is the same as single ones; those that do not matter are left out. */
START_TEST(nodes_are_the_same_in_any_area)
{
    enum { SIDE = 100, LEVEL = 8 };
    static struct course_node all[SIDE * SIDE];
    struct land land = land_of(4);
    struct drainage *drainage = drainage_of(&shapes[0], &land);
    const int64_t side = 30 * (shapes[0].spacing >> LEVEL);
    const struct drainage_area area =
        drainage_area_of(drainage, LEVEL, -side, side, 0, 2 * side, 3);
    must(area.width * area.height <= SIDE * SIDE, "%d x %d", area.width, area.height);
    ck_assert_int_eq(drainage_nodes(drainage, LEVEL, &area, all), 0);
    int within = 0;
    for (int k = 0; k < area.width * area.height; k++) {
        struct course_node one;
        const int64_t i = area.i + k % area.width, j = area.j + k / area.width;
        ck_assert_int_eq(drainage_nodes_at(drainage, LEVEL, i, j, 1, 1, &one), 0);
        const bool inside = one.x >= -side && one.x <= side && one.y >= 0 && one.y <= 2 * side;
        within += inside;
        must(!inside || (one.x == all[k].x && one.y == all[k].y && one.bed == all[k].bed &&
                         one.next == all[k].next && one.length == all[k].length &&
                         one.kind == all[k].kind && one.birth == all[k].birth),
             "node %d", k);
    }
    must(within > 3000 && within < 4200, "%d of 3600 nodes", within);
    drainage_free(drainage);
}
END_TEST

/* Blocks share samples of the world's fields: with those of all levels, and around the square,
 * seven for each node. With room for one sheet of the envelope there are 28. */
START_TEST(fields_are_sampled_once)
{
    enum { SIDE = 512, LEVELS = 6 }; /* nodes of the last level */
    struct land land = land_of(7);
    struct drainage *drainage = drainage_of(&shapes[1], &land);
    const int64_t step = shapes[1].spacing >> (LEVELS - 1);
    for (int row = 0; row < SIDE; row += MOST)
        for (int column = 0; column < SIDE; column += MOST) {
            static struct square s;
            place(&s, column * step, row * step, step, MOST);
            evaluate(drainage, &s, 0);
        }
    const double each = (double)land.samples / SIDE / SIDE;
    must(each > 1 && each < 9, "%g samples for each node", each);
    drainage_free(drainage);
}
END_TEST

/* Solve block (0, 0) of LEVEL, and the one beside it; the nodes next to their border must hardly
 * differ. */
START_TEST(blocks_have_no_seams)
{
    enum { LEVEL = 9, ALONG = BLOCK_SIDE };
    struct land land = land_of(5);
    struct drainage *drainage = drainage_of(&shapes[0], &land);
    struct drainage_block *block = calloc(1, sizeof *block);
    int differ = 0, greatly = 0, all = 0;
    for (int i = 0; i < 8; i++) {
        solve(drainage, LEVEL, i + 1, 0, block);
        float expected[ALONG];
        for (int row = 0; row < ALONG; row++)
            expected[row] = block->height[row * BLOCK_SIDE];
        solve(drainage, LEVEL, i, 0, block);
        for (int row = 0; row < ALONG; row++) {
            const int p = node_at(BLOCK_MARGIN + BLOCK_SIDE, BLOCK_MARGIN + row);
            const float off = fabsf(drainage->nodes->height[p] - expected[row]);
            differ += off > 1;
            greatly += off > 20;
            all++;
        }
    }
    must(differ <= all / 30 && greatly <= all / 200,
         "of %d heights %d differ by more than 1 m, %d by more than 20 m", all, differ, greatly);
    free(block);
    drainage_free(drainage);
}
END_TEST

/* The same at lakes of a broader level, which change the ground. */
START_TEST(lakes_have_no_seams)
{
    enum { LEVEL = 7, BLOCKS_IN_A_ROW = 100 };
    struct land land = land_of(5);
    struct drainage *drainage = drainage_of(&shapes[0], &land);
    struct drainage_block *block = calloc(1, sizeof *block);
    int differ = 0, greatly = 0, all = 0;
    for (int i = BLOCKS_IN_A_ROW; i >= 0; i--) {
        static float ground[BLOCK_SIDE], depth[BLOCK_SIDE];
        solve(drainage, LEVEL, i, 0, block);
        for (int row = 0; row < BLOCK_SIDE && i < BLOCKS_IN_A_ROW; row++) {
            const struct nodes *n = drainage->nodes;
            const int p = node_at(BLOCK_MARGIN + BLOCK_SIDE, BLOCK_MARGIN + row);
            if (n->depth[p] == 0 && depth[row] == 0)
                continue;
            const float off =
                fabsf(lake_lower(n->height[p], n->lake[p], n->depth[p]) - ground[row]);
            differ += off > 1;
            greatly += off > 20;
            all++;
        }
        for (int row = 0; row < BLOCK_SIDE; row++) {
            const int p = row * BLOCK_SIDE;
            depth[row] = lake_depth(block->depth[p]);
            ground[row] = lake_lower(block->height[p], lake_level(block->lake[p]), depth[row]);
        }
    }
    must(all > 50 && differ <= all / 20 && greatly <= all / 50,
         "of %d heights at lakes %d differ by more than 1 m, %d by more than 20 m", all, differ,
         greatly);
    free(block);
    drainage_free(drainage);
}
END_TEST

/* Cells have their corner's place and all up to the next corners; far out, too. */
START_TEST(places_are_in_their_cells)
{
    struct draws draws = {9, 0};
    struct turned lattice[DRAINAGE_MAX_LEVELS];
    for (int turn = 0; turn < 20000; turn++) {
        const int bits = (int)draw_between(&draws, 14 + DRAINAGE_MAX_LEVELS, 28);
        if (turn % 100 == 0)
            turned_make(lattice, DRAINAGE_MAX_LEVELS, INT64_C(1) << bits, draw(&draws));
        const struct turned *t = &lattice[draw_between(&draws, 0, DRAINAGE_MAX_LEVELS - 1)];
        const int64_t far = INT64_C(1) << draw_between(&draws, 10, 62);
        const int64_t x = draw_between(&draws, -far, far), y = draw_between(&draws, -far, far);
        const struct turned_cell c = turned_cell(t, x, y);
        /* In whole units: the place's coordinates along the cell's sides, from its corner. */
        const int64_t east = x - turned_x(t, c.i, c.j), south = y - turned_y(t, c.i, c.j);
        const int64_t along = t->a * east + t->b * south, across = t->a * south - t->b * east;
        const int64_t square = t->a * t->a + t->b * t->b;
        must(along >= 0 && along < square && across >= 0 && across < square,
             "(%lld, %lld) on a lattice of %.0f m", (long long)x, (long long)y, t->metres);
        const struct turned_cell corner =
            turned_cell(t, turned_x(t, c.i, c.j), turned_y(t, c.i, c.j));
        must(corner.i == c.i && corner.j == c.j, "a corner");
    }
}
END_TEST

/* Exact heights farther apart than any number of cells. */
START_TEST(samples_may_be_far_apart)
{
    enum { SIDE = 2, TURNS = 12 };
    static struct square grid;
    struct draws draws = {3, 0};
    struct land land = land_of(1);
    struct drainage *drainage = drainage_of(&shapes[1], &land);
    for (int turn = 0; turn < TURNS; turn++) {
        place(&grid, -(INT64_C(1) << 52), INT64_C(1) << 50,
              draw_between(&draws, INT64_C(1) << 46, INT64_C(1) << 52), SIDE);
        evaluate(drainage, &grid, 0);
        for (int k = 0; k < SIDE * SIDE; k++) {
            float one;
            const struct drainage_samples place = {&grid.x[k % SIDE], &grid.y[k / SIDE], 1, 1};
            ck_assert_int_eq(drainage_heights(drainage, &place, 0, &one, 1), 0);
            must(same_bits(&one, &grid.height[k], 1), "sample %d", k);
        }
    }
    drainage_free(drainage);
}
END_TEST

/* Nodes that do not matter are nowhere: those that led to them would draw rivers to 0, 0. */
START_TEST(nodes_are_where_they_belong)
{
    enum { FIRST = 4, WIDE = 150, MORE = 4 };
    struct land land = land_of(15);
    struct drainage *drainage = drainage_of(&shapes[0], &land);
    struct draws draws = {8300, 0};
    int unknown = 0;
    for (int level = FIRST; level < shapes[0].levels; level++) {
        const int64_t spacing = shapes[0].spacing >> level, side = WIDE * spacing;
        const int64_t x = draw_between(&draws, -side, 0), y = draw_between(&draws, -side, 0);
        const struct drainage_area area =
            drainage_area_of(drainage, level, x, x + side, y, y + side, MORE);
        struct course_node *nodes =
            malloc((size_t)area.width * (size_t)area.height * sizeof *nodes);
        ck_assert_ptr_nonnull(nodes);
        ck_assert_int_eq(drainage_nodes(drainage, level, &area, nodes), 0);
        for (int n = 0; n < area.width * area.height; n++) {
            double left, top;
            drainage_place(drainage, level, area.i + n % area.width, area.j + n / area.width, &left,
                           &top);
            const double away = hypot((double)nodes[n].x - left, (double)nodes[n].y - top);
            const bool is_nowhere = nodes[n].x < -FARLANDS_LIMIT - FARLANDS_MAX_STEP &&
                                    nodes[n].next < 0 && nodes[n].kind == COURSE_SEA;
            must(away < 2 * (double)spacing || is_nowhere, "node %d is %g away from its cell", n,
                 away);
            unknown += is_nowhere;
        }
        free(nodes);
    }
    must(unknown > 0, "all nodes are known");
    drainage_free(drainage);
}
END_TEST

/* But for what is lost between samples of TOP. */
START_TEST(ground_is_below_the_top)
{
    enum { SIDE = 24 };
    static const float LOST = 25;
    struct land land = land_of(14);
    struct drainage *drainage = drainage_of(&shapes[0], &land);
    int64_t x[SIDE], y[SIDE];
    float height[SIDE * SIDE], top[SIDE * SIDE];
    int near = 0;
    const struct farlands_grid grid = {0, 0, BLOCKS(1024), SIDE, SIDE, true};
    for (int k = 0; k < SIDE; k++)
        x[k] = y[k] = k * grid.step;
    float *const tops[DRAINAGE_INPUTS] = {[DRAINAGE_TOP] = top};
    ck_assert_int_eq(source(&land, &grid, tops), 0);
    ck_assert_int_eq(
        drainage_heights(drainage, &(struct drainage_samples){x, y, SIDE, SIDE}, 0, height, SIDE),
        0);
    for (int k = 0; k < SIDE * SIDE; k++) {
        must(height[k] < top[k] + LOST, "%g at a top of %g", (double)height[k], (double)top[k]);
        near += height[k] > top[k] - LOST;
    }
    must(near > SIDE, "%d places are at the top", near);
    drainage_free(drainage);
}
END_TEST

START_TEST(errors_of_the_source_are_passed_on)
{
    static struct square grid, expected;
    struct land land = land_of(1);
    struct drainage *drainage = drainage_of(&shapes[1], &land);
    struct drainage *other = drainage_of(&shapes[1], &land);
    place(&grid, 1000, 2000, BLOCKS(64), 8);
    place(&expected, 1000, 2000, BLOCKS(64), 8);
    evaluate(other, &expected, 0);
    const struct drainage_samples samples = {grid.x, grid.y, grid.side, grid.side};
    for (int after = 1; after < 40; after += 3) {
        land.fail_after = after;
        land.grids = 0;
        const int err = drainage_heights(drainage, &samples, 0, grid.height, (size_t)grid.side);
        must(err == -ENOMEM || err == 0, "%d", err);
    }
    land.fail_after = 0;
    evaluate(drainage, &grid, 0);
    must(same_bits(grid.height, expected.height, 64), "other heights than before");
    drainage_free(drainage);
    drainage_free(other);
    drainage_free(NULL);
}
END_TEST

START_TEST(parameters_are_checked)
{
    const struct {
        int64_t spacing;
        int levels;
        const char *key;
    } rows[] = {
        {BLOCKS(65536), 10, NULL},
        {BLOCKS(65536), 12, NULL},
        {BLOCKS(32), 2, NULL},
        {BLOCKS(8192), 2, NULL},
        {BLOCKS(16384), 2, "spacing"},
        {BLOCKS(4096), 1, "levels"},
        {BLOCKS(65536), 13, "levels"},
        {BLOCKS(65537), 10, "spacing"},
        {BLOCKS(524288), 10, "spacing"},
        {BLOCKS(256), 6, "spacing"},
        {0, 2, "spacing"},
    };
    for (int k = 0; k < LENGTH(rows); k++) {
        const struct drainage_params params = {.spacing = rows[k].spacing,
                                               .levels = rows[k].levels};
        const char *key, *text = drainage_fault(&params, &key);
        must(!text == !rows[k].key && (!text || strcmp(key, rows[k].key) == 0), "row %d: %s", k,
             text ? text : "accepted");
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("drainage");
    TCase *heights = suite_case(suite, "heights"), *water = suite_case(suite, "water");
    tcase_add_loop_test(heights, heights_do_not_depend_on_what_was_asked, 0, LENGTH(shapes));
    tcase_add_loop_test(heights, heights_have_a_reach, 0, LENGTH(shapes));
    tcase_add_test(heights, places_are_in_their_cells);
    tcase_add_test(heights, samples_may_be_far_apart);
    tcase_add_test(heights, ground_is_below_the_top);
    tcase_add_test(heights, nodes_are_where_they_belong);
    tcase_add_test(heights, errors_of_the_source_are_passed_on);
    tcase_add_test(heights, parameters_are_checked);
    tcase_add_loop_test(water, blocks_read_only_what_matters, 0, ROWS(shapes));
    tcase_add_test(water, water_flows_on);
    tcase_add_test(water, courses_reach_the_sea);
    tcase_add_test(water, nodes_are_the_same_in_any_area);
    tcase_add_test(water, fields_are_sampled_once);
    tcase_add_test(water, blocks_have_no_seams);
    tcase_add_test(water, lakes_have_no_seams);
    tcase_add_test(heights, lakes_do_not_depend_on_what_was_asked);
    return suite_run(suite);
}
