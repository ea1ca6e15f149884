/* Rivers of a drainage meet at the angle that the world says. */
#include <math.h>

#include "noise/drainage/drainage.h"
#include "tests/unit/support/drainage_source.h"
#include "tests/unit/support/draws.h"
#include "tests/unit/support/fixtures.h"

/* Hilly land, whose rivers meet at JUNCTION degrees. */
struct land {
    float junction;
};

static float envelope_at(double x, double y)
{
    static const double lengths[] = {60000, 31000, 23000, 17000, 11000};
    double sum = 0;
    for (int k = 0; k < LENGTH(lengths); k++) {
        const double turns = (x * cos(2.1 * k) + y * sin(2.1 * k)) / lengths[k];
        sum += sin(6.2831853 * turns + k);
    }
    return (float)(400 + 150 * sum);
}

static double value_at(const void *of, int64_t x, int64_t y, enum drainage_input input)
{
    const struct land *land = of;
    const float values[DRAINAGE_INPUTS] = {[DRAINAGE_STEEPNESS] = 0.08f,
                                           [DRAINAGE_SIDE] = 0.5f,
                                           [DRAINAGE_TOP] = DRAINAGE_HIGHEST,
                                           [DRAINAGE_JUNCTION] = land->junction};
    return input == DRAINAGE_ENVELOPE ? (double)envelope_at(farlands_blocks(x), farlands_blocks(y))
                                      : (double)values[input];
}

static int source(void *land, const struct farlands_grid *grid, float *const out[DRAINAGE_INPUTS])
{
    sample_inputs(value_at, land, grid, out);
    return 0;
}

/* A square of nodes of the last level, and the two greatest courses that flow into each; -1: none.
 */
enum { SIDE = 720, NONE = -1 };
static struct course_node node[SIDE * SIDE];
static int donor[SIDE * SIDE][2];

static void find_donors(void)
{
    for (int p = 0; p < SIDE * SIDE; p++)
        donor[p][0] = donor[p][1] = NONE;
    for (int row = 1; row < SIDE - 1; row++)
        for (int column = 1; column < SIDE - 1; column++) {
            const int p = row * SIDE + column, k = node[p].next;
            if (node[p].length == 0 || k < 0)
                continue;
            int *to = donor[p + drainage_neighbor[k][1] * SIDE + drainage_neighbor[k][0]];
            const int other = to[0];
            if (other == NONE || node[p].length > node[other].length) {
                to[1] = other;
                to[0] = p;
            } else if (to[1] == NONE || node[p].length > node[to[1]].length) {
                to[1] = p;
            }
        }
}

/* The node that is FAR steps, 500 m, above a junction, first of which is P. */
static int above(int p)
{
    enum { FAR = 4 };
    for (int step = 1; step < FAR && p != NONE; step++)
        p = donor[p][0];
    return p;
}

struct angles {
    double sum, squares;
    int count;
};

/* Add the angles at which rivers meet that drain more than 1 km2 each. */
static void add_angles(struct angles *angles)
{
    static const int32_t LEAST = 4 * COURSE_LENGTH; /* drainage_order: that of 1 km2 */
    for (int p = 0; p < SIDE * SIDE; p++) {
        const int other = donor[p][1];
        if (other == NONE || node[other].length < LEAST || node[p].kind != COURSE_FLOWS)
            continue;
        const int a = above(donor[p][0]), b = above(other);
        if (a == NONE || b == NONE)
            continue;
        const double ax = (double)(node[a].x - node[p].x), ay = (double)(node[a].y - node[p].y);
        const double bx = (double)(node[b].x - node[p].x), by = (double)(node[b].y - node[p].y);
        const double angle = fabs(atan2(ax * by - ay * bx, ax * bx + ay * by)) * 180 / 3.14159265;
        angles->sum += angle;
        angles->squares += angle * angle;
        angles->count++;
    }
}

static struct angles angles_of(float junction)
{
    struct angles angles = {0, 0, 0};
    for (uint64_t seed = 1; seed <= 2; seed++) {
        const struct drainage_params params = {.seed = seed,
                                               .spacing = BLOCKS(16384),
                                               .levels = 8,
                                               .concavity = 0.45,
                                               .rough = 0.3,
                                               .floor = 20,
                                               .bend = 0.5};
        struct land land = {junction};
        struct drainage *drainage = drainage_alone(&params, source, &land);
        ck_assert_ptr_nonnull(drainage);
        const int err = drainage_nodes_at(drainage, params.levels - 1, 1000 * (int64_t)seed, 500,
                                          SIDE, SIDE, node);
        ck_assert_int_eq(err, 0);
        find_donors();
        add_angles(&angles);
        drainage_free(drainage);
    }
    return angles;
}

static const struct {
    float junction, mean, off;
} rows[] = {{45, 45, 2.5f}, {52, 52, 3}, {60, 60, 3}, {66, 66, 3}, {72, 72, 2.5f}, {0, 60, 4}};

/* In the mean over more than 4000 junctions. Survey's angles differ by 23 to 32 degrees. */
START_TEST(rivers_meet_at_an_angle)
{
    const struct angles angles = angles_of(rows[_i].junction);
    const double mean = angles.sum / angles.count;
    const double deviation = sqrt(angles.squares / angles.count - mean * mean);
    const double wanted = (double)rows[_i].mean, off = (double)rows[_i].off;
    must(angles.count > 4000, "%d junctions", angles.count);
    must(fabs(mean - wanted) < off && deviation > 12 && deviation < 25,
         "%g degrees: mean %.1f, deviation %.1f of %d junctions; expected %g +- %g",
         (double)rows[_i].junction, mean, deviation, angles.count, wanted, off);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("junctions");
    TCase *tcase = suite_case(suite, "junctions");
    tcase_add_loop_test(tcase, rivers_meet_at_an_angle, 0, ROWS(rows));
    return suite_run(suite);
}
