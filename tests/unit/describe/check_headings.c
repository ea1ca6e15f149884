/* Headings of lines: straight ones, lattices, circles. */
#include "server/describe/headings.h"

#include <math.h>

#include "noise/farlands.h"
#include "tests/unit/support/fixtures.h"

static int64_t units(double blocks)
{
    return llround(blocks * FARLANDS_UNIT);
}

/* A line of COUNT pieces LENGTH blocks long, the headings of which are TURN degrees apart. */
static struct headings walk(int count, double length, double turn, int64_t x, int64_t y)
{
    struct headings_line line = {0};
    headings_go(&line, x, y);
    for (int i = 0; i < count; i++) {
        x += units(length * cos(turn * i * M_PI / 180));
        y += units(length * sin(turn * i * M_PI / 180));
        headings_go(&line, x, y);
    }
    return line.headings;
}

static const struct {
    const char *name;
    int pieces;
    double length, turn;
    int chords;
    double hexagonal, tolerance;
} rows[] = {
    {"nothing", 0, 0, 0, 0, NAN, 0},
    {"too short", 1, 255, 0, 0, NAN, 0},
    {"straight", 1, 2560, 0, 10, 1, 1e-9},
    {"straight, of short pieces", 1000, 2.56, 0, 10, 1, 1e-6},
    {"a triangular lattice", 60, 256, 60, 60, 1, 1e-4},
    {"a triangular lattice, turned back", 60, 256, 120, 60, 1, 1e-4},
    {"a square lattice", 60, 256, 90, 60, 0, 1e-4},
    {"all headings", 360, 256, 1, 360, 0, 1e-4},
    {"a wide circle", 3600, 256, 0.1, 3600, 0, 1e-3},
};

START_TEST(test_rows)
{
    static const int64_t places[] = {0, -FARLANDS_LIMIT, FARLANDS_LIMIT - 12345678};
    for (int i = 0; i < ROWS(places); i++) {
        const struct headings found =
            walk(rows[_i].pieces, rows[_i].length, rows[_i].turn, places[i], -places[i]);
        const double share = headings_hexagonal(&found), expected = rows[_i].hexagonal;
        must(abs(found.chords - rows[_i].chords) <= 1, "%s: %d chords", rows[_i].name,
             found.chords);
        must(isnan(expected) ? isnan(share) : fabs(share - expected) <= rows[_i].tolerance + 1e-3,
             "%s: %g, not %g", rows[_i].name, share, expected);
    }
}
END_TEST

/* Two lines of 200 blocks are no chord, though together they are longer than one. */
START_TEST(test_lift)
{
    struct headings_line line = {0};
    for (int i = 0; i < 2; i++) {
        headings_go(&line, units(1000 * i), 0);
        headings_go(&line, units(1000 * i + 200), 0);
        headings_lift(&line);
    }
    ck_assert_int_eq(line.headings.chords, 0);
    headings_go(&line, 0, 0);
    headings_go(&line, 0, units(600));
    headings_lift(&line);
    headings_go(&line, 0, units(5000));
    headings_go(&line, 0, units(5300));
    ck_assert_int_eq(line.headings.chords, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("headings");
    TCase *tcase = suite_case(suite, "lines");
    tcase_add_loop_test(tcase, test_rows, 0, ROWS(rows));
    tcase_add_test(tcase, test_lift);
    return suite_run(suite);
}
