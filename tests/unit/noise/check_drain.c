/* Which way water flows: falling beds, courses that never cross, the same from everywhere. */
#include "noise/water/drain.h"

#include <errno.h>
#include <math.h>

#include "noise/water/drain_parts.h"
#include "tests/unit/support/draws.h"
#include "tests/unit/support/fixtures.h"

/* Ground made of waves that differ with the seed: islands, ranges and basins. */
struct land {
    struct wave {
        double x, y, phase, height; /* per metre; metres */
    } wave[7];
    int fail_after; /* grids; 0: never */
    int grids;
    double x, y, other; /* the ground is another one so far from (x, y); 0: nowhere */
};

static struct land land_of(uint64_t seed)
{
    static const double lengths[] = {400000, 170000, 90000, 41000, 19000, 8100, 3700};
    struct draws draws = {seed, 0};
    struct land land = {.grids = 0};
    for (int i = 0; i < LENGTH(lengths); i++) {
        const double angle = draw_number(&draws, 0, 6.283);
        land.wave[i] =
            (struct wave){cos(angle) * 6.283 / lengths[i], sin(angle) * 6.283 / lengths[i],
                          draw_number(&draws, 0, 6.283), 12 * pow(lengths[i], 0.3)};
    }
    return land;
}

static int ground(void *context, const struct farlands_grid *grid, float *out)
{
    struct land *land = context;
    if (land->fail_after && ++land->grids > land->fail_after)
        return -ENOMEM;
    for (int j = 0; j < grid->height; j++)
        for (int i = 0; i < grid->width; i++) {
            const double x = farlands_blocks(grid->x + i * grid->step);
            const double y = farlands_blocks(grid->y + j * grid->step);
            double h = 60;
            for (int k = 0; k < LENGTH(land->wave); k++) {
                const struct wave *w = &land->wave[k];
                h += w->height * sin(w->x * x + w->y * y + w->phase);
            }
            if (land->other > 0 && fmax(fabs(x - land->x), fabs(y - land->y)) > land->other)
                h = 400 - 3 * h;
            *out++ = (float)h;
        }
    return 0;
}

static const struct drain_shape shapes[] = {
    {BLOCKS(32768), 4}, {BLOCKS(4096), 3}, {BLOCKS(65536), 5}, {BLOCKS(2048), 2}};

static struct drain *drain_of(const struct drain_shape *shape, struct land *land)
{
    struct drain *drain;
    ck_assert_int_eq(drain_new(&drain, shape, ground, land), 0);
    return drain;
}

static struct course_node node_at(struct drain *drain, int level, int64_t i, int64_t j)
{
    struct course_node node;
    must(drain_nodes(drain, level, i, j, 1, 1, &node) == 0, "a node");
    return node;
}

static const char *text_of(const struct course_node *n)
{
    static char text[2][200];
    static int turn;
    turn = !turn;
    snprintf(text[turn], sizeof text[turn],
             "(%.1f, %.1f) ground %.4f bed %.5f length %.3f next %d kind %d birth %d",
             farlands_blocks(n->x), farlands_blocks(n->y), (double)n->ground / COURSE_METRE,
             (double)n->bed / COURSE_METRE, (double)n->length / COURSE_LENGTH, n->next, n->kind,
             n->birth);
    return text[turn];
}

/* What courses met on their way. */
struct tally {
    long steps, seas, ends;
};

/* Follow the water from node (I, J) to its end. */
static void follow(struct drain *drain, int level, int64_t i, int64_t j, struct tally *tally)
{
    struct course_node n = node_at(drain, level, i, j);
    for (int t = 0; n.kind == COURSE_FLOWS; t++) {
        must(n.next >= 0 && n.next < DRAIN_NEIGHBORS, "%s", text_of(&n));
        must(n.bed > 0 && n.length > 0, "%s", text_of(&n));
        i += drain_neighbor[n.next][0];
        j += drain_neighbor[n.next][1];
        const struct course_node next = node_at(drain, level, i, j);
        must(next.bed < n.bed, "rises: %s, then %s", text_of(&n), text_of(&next));
        must(n.birth == level || next.kind == COURSE_SEA || next.length >= n.length,
             "shrinks: %s, then %s", text_of(&n), text_of(&next));
        must(n.birth >= level || next.birth < level || next.kind == COURSE_SEA,
             "a course ends on land: %s, then %s", text_of(&n), text_of(&next));
        must(t < 100000, "a course does not end within 100000 nodes");
        n = next;
        tally->steps++;
    }
    must(n.next == -1, "%s", text_of(&n));
    must(n.kind != COURSE_SEA || (n.ground <= 0 && n.bed == 0), "%s", text_of(&n));
    tally->seas += n.kind == COURSE_SEA;
    tally->ends += n.kind == COURSE_END;
}

enum { SEEDS = 12, PLACES = 12 };

START_TEST(beds_fall_to_the_sea_or_an_end_lake)
{
    const struct drain_shape *shape = &shapes[_i];
    const int level = shape->levels - 1, places = patience() > 1 ? PLACES / 4 : PLACES;
    struct tally tally = {0, 0, 0};
    for (int seed = 0; seed < SEEDS; seed++) {
        struct land land = land_of((uint64_t)seed);
        struct drain *drain = drain_of(shape, &land);
        struct draws draws = {900 + (uint64_t)seed, 0};
        for (int k = 0; k < places; k++)
            follow(drain, level, draw_between(&draws, -4000, 4000),
                   draw_between(&draws, -4000, 4000), &tally);
        drain_free(drain);
    }
    printf("%d levels: %ld steps, %ld times the sea, %ld end lakes\n", shape->levels, tally.steps,
           tally.seas, tally.ends);
    must(tally.seas > 0 && tally.steps > 3L * SEEDS * places, "%ld steps, %ld times the sea",
         tally.steps, tally.seas);
}
END_TEST

static bool same(const struct course_node *a, const struct course_node *b)
{
    return a->x == b->x && a->y == b->y && a->ground == b->ground && a->bed == b->bed &&
           a->length == b->length && a->next == b->next && a->kind == b->kind &&
           a->birth == b->birth;
}

/* Windows of any shape, in any order, alone or after others, have the same nodes. */
START_TEST(nodes_do_not_depend_on_what_was_asked_before)
{
    enum { WIDE = 40, HIGH = 25, WINDOWS = 12 };
    static struct course_node all[HIGH][WIDE], part[HIGH * WIDE];
    const struct drain_shape *shape = &shapes[_i];
    struct land land = land_of(77);
    struct drain *drain = drain_of(shape, &land);
    struct draws draws = {31, 0};
    for (int level = 0; level < shape->levels; level++) {
        const int64_t i0 = draw_between(&draws, -3000, 3000),
                      j0 = draw_between(&draws, -3000, 3000);
        ck_assert_int_eq(drain_nodes(drain, level, i0, j0, WIDE, HIGH, all[0]), 0);
        for (int w = 0; w < WINDOWS; w++) {
            const int i = (int)draw_between(&draws, 0, WIDE - 1),
                      j = (int)draw_between(&draws, 0, HIGH - 1);
            const int wide = (int)draw_between(&draws, 1, WIDE - i),
                      high = (int)draw_between(&draws, 1, HIGH - j);
            struct drain *own = w % 3 ? drain : drain_of(shape, &land);
            if (w % 3 == 1) /* displace what is remembered */
                ck_assert_int_eq(
                    drain_nodes(drain, level, i0 + 5000, j0 - 700 * w, WIDE, HIGH, part), 0);
            ck_assert_int_eq(drain_nodes(own, level, i0 + i, j0 + j, wide, high, part), 0);
            for (int r = 0; r < high; r++)
                for (int c = 0; c < wide; c++)
                    must(same(&part[r * wide + c], &all[j + r][i + c]), "level %d: %s, not %s",
                         level, text_of(&part[r * wide + c]), text_of(&all[j + r][i + c]));
            if (own != drain)
                drain_free(own);
        }
    }
    drain_free(drain);
}
END_TEST

/* Whatever the ground is beyond the reach of a node. */
START_TEST(nodes_have_a_reach)
{
    const struct drain_shape *shape = &shapes[_i];
    struct draws draws = {55, 0};
    for (int k = 0; k < 12; k++) {
        struct land land = land_of((uint64_t)k), changed = land;
        struct drain *drain = drain_of(shape, &land), *other = drain_of(shape, &changed);
        const int level = k % shape->levels;
        const int64_t i = draw_between(&draws, -3000, 3000), j = draw_between(&draws, -3000, 3000);
        const struct course_node n = node_at(drain, level, i, j);
        changed.x = farlands_blocks(n.x);
        changed.y = farlands_blocks(n.y);
        changed.other = DRAIN_FAR * farlands_blocks(shape->spacing);
        const struct course_node again = node_at(other, level, i, j);
        must(same(&n, &again), "level %d: %s, not %s", level, text_of(&again), text_of(&n));
        drain_free(drain);
        drain_free(other);
    }
}
END_TEST

/* Of two nodes alone, and so within as many columns and rows as others expect. */
START_TEST(ways_keep_to_two_cells)
{
    const struct drain_shape *shape = &shapes[_i];
    struct land land = land_of(15);
    struct drain *drain = drain_of(shape, &land);
    struct draws draws = {66, 0};
    for (int k = 0; k < 600; k++) {
        const int level = k % (shape->levels - 1);
        const int64_t i = draw_between(&draws, -3000, 3000), j = draw_between(&draws, -3000, 3000);
        const int64_t s = shape->spacing >> (2 * level + 2);
        const struct course_node n = node_at(drain, level, i, j);
        const struct drain_way *way;
        ck_assert_int_eq(drain_way(drain, level, i, j, &way), 0);
        for (int t = 0; t < way->count; t++) {
            const int64_t column = DRAIN_RATIO * i + way->column[t],
                          row = DRAIN_RATIO * j + way->row[t];
            int64_t a, b;
            must(abs(way->column[t]) <= DRAIN_WAY_REACH && abs(way->row[t]) <= DRAIN_WAY_REACH,
                 "(%d, %d)", way->column[t], way->row[t]);
            drain_nearest(drain, level, s * column + s / 2 * row, s * row, &a, &b);
            const bool first = a == i && b == j;
            const bool next = n.next >= 0 && a == i + drain_neighbor[n.next][0] &&
                              b == j + drain_neighbor[n.next][1];
            must(first || next, "node %d of %d in the cell of (%d, %d) from its beginning", t,
                 way->count, (int)(a - i), (int)(b - j));
        }
    }
    drain_free(drain);
}
END_TEST

/* As far out as places are, and a little farther, as everywhere. */
START_TEST(nodes_reach_the_limit)
{
    enum { SIDE = 20 };
    static struct course_node all[SIDE][SIDE];
    const struct drain_shape *shape = &shapes[_i];
    const int level = shape->levels - 1;
    const int64_t limit = FARLANDS_LIMIT + FARLANDS_MAX_STEP;
    struct land land = land_of(4);
    struct drain *drain = drain_of(shape, &land);
    struct tally tally = {0, 0, 0};
    for (int corner = 0; corner < 4; corner++) {
        const int64_t x = corner & 1 ? limit : -limit, y = corner & 2 ? limit : -limit;
        int64_t i, j;
        drain_nearest(drain, level, x, y, &i, &j);
        i -= SIDE / 2;
        j -= SIDE / 2;
        ck_assert_int_eq(drain_nodes(drain, level, i, j, SIDE, SIDE, all[0]), 0);
        for (int k = 0; k < SIDE * SIDE; k += 97) {
            struct drain *own = drain_of(shape, &land);
            const struct course_node n = node_at(own, level, i + k % SIDE, j + k / SIDE);
            must(same(&n, &all[k / SIDE][k % SIDE]), "%s", text_of(&n));
            must(llabs(n.x - x) < SIDE * shape->spacing && llabs(n.y - y) < SIDE * shape->spacing,
                 "%s", text_of(&n));
            drain_free(own);
        }
        follow(drain, level, i, j, &tally);
    }
    drain_free(drain);
}
END_TEST

static double turn(const struct course_node *a, const struct course_node *b,
                   const struct course_node *c)
{
    return (double)(b->x - a->x) * (double)(c->y - a->y) -
           (double)(b->y - a->y) * (double)(c->x - a->x);
}

/* The triangles between neighbors keep their orientation, so edges do not cross. */
START_TEST(edges_do_not_cross)
{
    enum { SIDE = 32 };
    static struct course_node n[SIDE][SIDE];
    const struct drain_shape *shape = &shapes[_i];
    struct land land = land_of(5);
    struct drain *drain = drain_of(shape, &land);
    for (int level = 0; level < shape->levels; level++) {
        ck_assert_int_eq(drain_nodes(drain, level, -SIDE / 2, 1000, SIDE, SIDE, n[0]), 0);
        for (int j = 0; j + 1 < SIDE; j++)
            for (int i = 0; i + 1 < SIDE; i++) {
                must(turn(&n[j][i], &n[j][i + 1], &n[j + 1][i]) > 0, "level %d (%d, %d)", level, i,
                     j);
                must(turn(&n[j][i + 1], &n[j + 1][i + 1], &n[j + 1][i]) > 0, "level %d (%d, %d)",
                     level, i, j);
            }
    }
    drain_free(drain);
}
END_TEST

START_TEST(nearest_nodes_are_nearest)
{
    struct land land = land_of(1);
    struct drain *drain = drain_of(&shapes[0], &land);
    struct draws draws = {12, 0};
    for (int k = 0; k < 2000; k++) {
        const int level = (int)draw_between(&draws, 0, 3);
        const int64_t s = shapes[0].spacing >> (2 * level), half = s / 2;
        const int64_t x = draw_between(&draws, -BLOCKS(1e6), BLOCKS(1e6)),
                      y = draw_between(&draws, -BLOCKS(1e6), BLOCKS(1e6));
        int64_t i, j;
        drain_nearest(drain, level, x, y, &i, &j);
        const double dx = (double)(s * i + half * j - x), dy = (double)(s * j - y),
                     d = dx * dx + dy * dy;
        for (int k2 = 0; k2 < DRAIN_NEIGHBORS; k2++) {
            const int64_t a = i + drain_neighbor[k2][0], b = j + drain_neighbor[k2][1];
            const double ex = (double)(s * a + half * b - x), ey = (double)(s * b - y);
            must(d <= ex * ex + ey * ey, "(%g, %g)", farlands_blocks(x), farlands_blocks(y));
        }
    }
    drain_free(drain);
}
END_TEST

/* A ground that fails leaves nothing behind that is wrong. */
START_TEST(errors_of_the_ground_are_passed_on)
{
    struct land land = land_of(3);
    struct drain *drain = drain_of(&shapes[1], &land), *other = drain_of(&shapes[1], &land);
    struct course_node n, expected;
    ck_assert_int_eq(drain_nodes(other, 2, 100, 50, 1, 1, &expected), 0);
    for (int after = 1; after < 40; after += 3) {
        land.fail_after = after;
        land.grids = 0;
        const int err = drain_nodes(drain, 2, 100, 50, 1, 1, &n);
        must(err == -ENOMEM || err == 0, "%d", err);
    }
    land.fail_after = 0;
    ck_assert_int_eq(drain_nodes(drain, 2, 100, 50, 1, 1, &n), 0);
    must(same(&n, &expected), "%s, not %s", text_of(&n), text_of(&expected));
    drain_free(drain);
    drain_free(other);
    drain_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("drain");
    TCase *courses = suite_case(suite, "courses"), *nodes = suite_case(suite, "nodes");
    tcase_add_loop_test(courses, beds_fall_to_the_sea_or_an_end_lake, 0, LENGTH(shapes));
    tcase_add_loop_test(nodes, nodes_do_not_depend_on_what_was_asked_before, 0, LENGTH(shapes));
    tcase_add_loop_test(nodes, nodes_have_a_reach, 0, LENGTH(shapes));
    tcase_add_loop_test(nodes, ways_keep_to_two_cells, 0, LENGTH(shapes));
    tcase_add_loop_test(nodes, nodes_reach_the_limit, 0, LENGTH(shapes));
    tcase_add_loop_test(nodes, edges_do_not_cross, 0, LENGTH(shapes));
    tcase_add_test(nodes, nearest_nodes_are_nearest);
    tcase_add_test(nodes, errors_of_the_ground_are_passed_on);
    return suite_run(suite);
}
