/* Runs of repeated bytes: the pieces are correct, maximal and long enough. */
#include "server/png/deflate/repeats.h"
#include "tests/unit/support/fixtures.h"

enum { SLACK = 63, TRIED = 300, TILE_MAX = 512 * (512 * 3 + 1) };

static struct guarded row; /* input and its slack */
static struct piece pieces[PIECES_MAX(TILE_MAX)];
static uint64_t masks[MASKS_MAX(TILE_MAX)];

static bool is_repeat(const uint8_t *bytes, size_t at, size_t distance)
{
    return at >= distance && bytes[at] == bytes[at - distance];
}

/* Check the promises of repeats.h. Returns the number of pieces that are not empty. */
static size_t check_repeats(const uint8_t *bytes, size_t length, unsigned far)
{
    size_t at = 0, count = repeats_find(pieces, masks, bytes, length, far);
    must(count <= PIECES_MAX(length), "%zu bytes, %u: %zu pieces", length, far, count);
    for (size_t i = 0; i < count; i++) {
        const struct piece *piece = &pieces[i];
        bool last = i + 1 == count;
        must(piece->repeats >= REPEATS_MIN || (last && !piece->repeats),
             "%zu bytes, %u: %u repeats in piece %zu of %zu", length, far, piece->repeats, i,
             count);
        must(!piece->repeats || piece->distance == 1 || piece->distance == far,
             "%zu bytes, %u: a distance of %u", length, far, piece->distance);
        size_t near_run = 0, far_run = 0; /* among the literals */
        for (unsigned j = 0; j < piece->literals; j++, at++) {
            near_run = is_repeat(bytes, at, 1) ? near_run + 1 : 0;
            far_run = is_repeat(bytes, at, far) ? far_run + 1 : 0;
            must(near_run < REPEATS_MIN && far_run < REPEATS_MIN,
                 "%zu bytes, %u: a run up to byte %zu was missed", length, far, at);
        }
        for (unsigned j = 0; j < piece->repeats; j++, at++)
            must(at < length && is_repeat(bytes, at, piece->distance),
                 "%zu bytes, %u: byte %zu does not repeat that %u before", length, far, at,
                 piece->distance);
    }
    must(at == length, "%zu bytes, %u: pieces of %zu", length, far, at);
    return count && !pieces[count - 1].literals && !pieces[count - 1].repeats ? count - 1 : count;
}

/* Bytes at either end of readable memory. The bytes beyond continue their runs, which must end with
 * the input all the same. */
static size_t check_row(const uint8_t *bytes, size_t length, unsigned far)
{
    size_t count = 0;
    for (int first = 0; first < 2; first++) {
        uint8_t *copy = guarded_bytes(&row, length + SLACK, first);
        memcpy(copy, bytes, length);
        for (size_t i = length; i < length + SLACK; i++)
            copy[i] = i < far ? 0 : copy[i - far];
        count = check_repeats(copy, length, far);
    }
    return count;
}

static const unsigned distances[] = {1, 2, 3, 4, 63};

/* Mostly one value, which gives runs of all lengths at all distances. */
START_TEST(test_repeats)
{
    const unsigned far = distances[_i];
    uint64_t state = far;
    uint8_t bytes[TRIED];
    guarded_new(&row, TRIED + SLACK);
    for (size_t length = 0; length <= TRIED; length++) {
        for (int rarity = 1; rarity <= 64; rarity *= 2) {
            for (size_t i = 0; i < length; i++)
                bytes[i] = chance_below(&state, rarity) ? 0 : (uint8_t)chance_below(&state, 3);
            check_row(bytes, length, far);
            /* A repeated pattern with a different byte now and then. */
            for (size_t i = 0; i < length; i++)
                bytes[i] = i >= far && chance_below(&state, rarity) ? bytes[i - far]
                                                                    : (uint8_t)chance(&state);
            check_row(bytes, length, far);
        }
    }
    guarded_free(&row);
}
END_TEST

/* Bytes without repetition, except COUNT from BEGIN on that equal those FAR before. */
static void one_run(uint8_t *bytes, size_t length, size_t begin, size_t count, size_t far)
{
    for (size_t i = 0; i < length; i++)
        bytes[i] = i >= begin && i < begin + count ? bytes[i - far] : (uint8_t)(37 * i);
}

/* One run, wherever it begins and ends, is one piece; a short one is none. */
START_TEST(test_runs)
{
    const unsigned far = distances[_i];
    uint8_t bytes[TRIED];
    guarded_new(&row, TRIED + SLACK);
    for (size_t begin = far; begin < 132; begin++) {
        for (size_t count = 0; count <= 132; count++) {
            size_t length = begin + count + begin % 3 * 5;
            one_run(bytes, length, begin, count, far);
            size_t got = check_row(bytes, length, far);
            bool found = count >= REPEATS_MIN, more = found && begin % 3;
            must(got == 1u + more && pieces[0].literals == (found ? begin : length) &&
                     pieces[0].repeats == (found ? count : 0),
                 "%zu bytes, %zu from %zu on repeat at %u: %zu pieces, %u literals, %u repeats",
                 length, count, begin, far, got, pieces[0].literals, pieces[0].repeats);
        }
    }
    guarded_free(&row);
}
END_TEST

START_TEST(test_long_runs)
{
    static const size_t lengths[] = {64, 65, 1 << 12, (1 << 16) + 1, TILE_MAX};
    static uint8_t bytes[TILE_MAX];
    const unsigned far = distances[_i];
    guarded_new(&row, TILE_MAX + SLACK);
    for (int i = 0; i < ROWS(lengths); i++) {
        memset(bytes, 7, sizeof bytes);
        ck_assert_uint_eq(check_row(bytes, lengths[i], far), 1);
        ck_assert_uint_eq(pieces[0].repeats, lengths[i] - pieces[0].literals);
        ck_assert_uint_le(pieces[0].literals, far);
        bytes[lengths[i] - 1] = 8;
        ck_assert_uint_eq(check_row(bytes, lengths[i], far), 2);
        ck_assert_uint_eq(pieces[1].literals, 1);
        one_run(bytes, lengths[i], far, lengths[i] - far, far);
        ck_assert_uint_eq(check_row(bytes, lengths[i], far), 1);
        ck_assert_uint_eq(pieces[0].literals, lengths[i] - far < REPEATS_MIN ? lengths[i] : far);
    }
    guarded_free(&row);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("repeats");
    TCase *tcase = suite_case(suite, "repeats");
    tcase_add_loop_test(tcase, test_repeats, 0, ROWS(distances));
    tcase_add_loop_test(tcase, test_runs, 0, ROWS(distances));
    tcase_add_loop_test(tcase, test_long_runs, 0, ROWS(distances));
    return suite_run(suite);
}
