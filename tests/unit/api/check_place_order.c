/* The order in which a list's places are computed. */
#include "server/api/place_order.h"

#include "noise/farlands.h"
#include "tests/unit/support/fixtures.h"

/* The numbers of PLACES, in their order. */
static void expect_order(const int64_t (*place)[2], int count, const int *expected)
{
    const int64_t *order[64];
    place_order(place, (size_t)count, order);
    for (int k = 0; k < count; k++)
        must(order[k] == place[expected[k]], "number %d is place %d; expected %d", k,
             (int)(order[k] - place[0]) / 2, expected[k]);
}

START_TEST(quarters_come_one_after_the_other)
{
    static const int64_t places[][2] = {{7, 7},  {-1, -1}, {0, 0}, {4, 0},
                                        {-8, 8}, {0, 4},   {3, 3}, {8, -8}};
    static const int expected[] = {1, 4, 7, 2, 6, 5, 3, 0};
    expect_order(places, ROWS(places), expected);
}
END_TEST

START_TEST(a_grid_is_in_z_order)
{
    int64_t places[16][2];
    static const int expected[] = {0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15};
    for (int k = 0; k < 16; k++) {
        places[k][0] = 4096 + k % 4;
        places[k][1] = -4 + k / 4;
    }
    expect_order((const int64_t(*)[2])places, 16, expected);
}
END_TEST

/* Far are those more than 100 blocks from the one before. */
START_TEST(far_places_are_counted)
{
    static const int64_t far = INT64_C(100) * FARLANDS_UNIT;
    const int64_t places[][2] = {
        {0, 0},        {far, 0}, {2 * far + 1, 0}, {2 * far + 1, far + 1}, {-9 * far, 5},
        {-9 * far, 5}, {0, 0}};
    const int64_t *order[ROWS(places)];
    ck_assert_uint_eq(place_order(places, ROWS(places), order), 4);
    ck_assert_uint_eq(place_order(places, 2, order), 1);
    ck_assert_uint_eq(place_order(places, 0, order), 0);
}
END_TEST

START_TEST(any_place_has_an_order)
{
    static const int64_t places[][2] = {
        {INT64_MAX, INT64_MAX}, {INT64_MIN, INT64_MIN}, {0, 0}, {0, 0}};
    const int64_t *order[ROWS(places)];
    place_order(places, ROWS(places), order);
    ck_assert_ptr_eq(order[0], places[1]);
    ck_assert_ptr_eq(order[ROWS(places) - 1], places[0]);
    ck_assert_uint_eq(place_order(places, ROWS(places), order), 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("place_order");
    TCase *tcase = suite_case(suite, "order");
    tcase_add_test(tcase, quarters_come_one_after_the_other);
    tcase_add_test(tcase, a_grid_is_in_z_order);
    tcase_add_test(tcase, far_places_are_counted);
    tcase_add_test(tcase, any_place_has_an_order);
    return suite_run(suite);
}
