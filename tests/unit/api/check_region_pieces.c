/* Regions in pieces: together they are every sample once, in the order in which they are sent. */
#include "server/api/region_pieces.h"

#include "server/api/raster_response.h"
#include "server/routing/route.h"
#include "server/tiles/render.h"
#include "tests/unit/support/fixtures.h"

static const struct size {
    int width, height, depth;
} sizes[] = {
    {1, 1, 1},
    {2, 3, 1},
    {17, 17, 1},
    {ROUTE_SIDE_MAX, 1, 1},
    {1, ROUTE_SIDE_MAX, 1},
    {512, 512, 1}, /* exactly one piece */
    {512, 513, 1},
    {ROUTE_SIDE_MAX, 63, 1},
    {ROUTE_SIDE_MAX, 64, 1},
    {ROUTE_SIDE_MAX, ROUTE_SIDE_MAX, 1},
    {1, 1, 7},
    {3, 5, 7},
    {1, 1, ROUTE_SIDE_MAX},
    {1, ROUTE_SIDE_MAX, ROUTE_SIDE_MAX},
    {ROUTE_SIDE_MAX, 1, ROUTE_SIDE_MAX},
    {256, 256, 256},
    {512, 512, 64},
    {513, 512, 63},
    {1024, 700, 23},
    {300, 300, 3},
};

static struct farlands_box box_of(const struct size *size)
{
    return (struct farlands_box){.x = -5000,
                                 .y = 77,
                                 .z = -1024,
                                 .step = 512,
                                 .width = size->width,
                                 .height = size->height,
                                 .depth = size->depth};
}

static uint64_t samples_in(const struct farlands_box *box)
{
    return (uint64_t)box->width * (uint64_t)box->height * (uint64_t)box->depth;
}

/* The number of the first sample of PIECE among those of BOX. Asserts that the samples of PIECE
 * follow each other without gaps. */
static uint64_t begin_of(const struct farlands_box *box, const struct farlands_box *piece)
{
    const int64_t x = piece->x - box->x, y = piece->y - box->y, z = piece->z - box->z;
    const bool rows = piece->width == box->width, whole = rows && piece->height == box->height;

    must(piece->step == box->step && x % box->step == 0 && y % box->step == 0 && z % box->step == 0,
         "another step");
    const int64_t column = x / box->step, row = y / box->step, layer = z / box->step;
    must(column >= 0 && column + piece->width <= box->width && row >= 0 &&
             row + piece->height <= box->height && layer >= 0 && layer + piece->depth <= box->depth,
         "outside");
    must((rows || piece->height == 1) && (whole || piece->depth == 1), "with gaps: %d x %d x %d",
         piece->width, piece->height, piece->depth);
    return (uint64_t)((layer * box->height + row) * box->width + column);
}

/* The pieces for LENGTH bytes of BOX from FIRST on, of MOST samples. */
static struct region_pieces cut_range(const struct farlands_box *box, unsigned sample_size,
                                      uint64_t first, uint64_t length, uint64_t most)
{
    struct farlands_box part = *box;
    struct region_pieces pieces;
    const uint64_t before = region_pieces_narrow(&part, sample_size, first, length);
    region_pieces_cut(&pieces, &part, most);
    region_pieces_keep(&pieces, sample_size, first - before, length);
    return pieces;
}

/* Check the pieces of MOST samples for LENGTH bytes from FIRST on, of SAMPLE_SIZE bytes per sample.
 */
static void check_pieces(const struct region_pieces *pieces, const struct farlands_box *box,
                         uint64_t most, unsigned sample_size, uint64_t first, uint64_t length)
{
    const uint64_t row = (uint64_t)pieces->box.width;
    uint64_t begin = 0, end = 0, largest = 0;

    ck_assert_uint_gt(pieces->count, 0);
    for (unsigned i = 0; i < pieces->count; i++) {
        const struct farlands_box piece = region_pieces_box(pieces, i);
        const uint64_t at = begin_of(box, &piece), count = samples_in(&piece);
        must(count > 0 && count <= RENDER_PIECE_MAX && (count <= most || count <= row),
             "piece %u has %d x %d x %d samples", i, piece.width, piece.height, piece.depth);
        must(i == 0 || at == end, "piece %u begins with sample %lu, not %lu", i, (long)at,
             (long)end);
        if (i == 0) {
            begin = at;
            must(pieces->offset < count * sample_size, "offset %lu", (long)pieces->offset);
        }
        must(at * sample_size < first + length, "piece %u is behind the range", i);
        end = at + count;
        largest = count > largest ? count : largest;
    }
    ck_assert_uint_ge(region_pieces_largest(pieces), largest);
    ck_assert_uint_le(region_pieces_largest(pieces), RENDER_PIECE_MAX);
    ck_assert_uint_eq(begin * sample_size + pieces->offset, first);
    ck_assert_uint_ge(end * sample_size, first + length);
}

/* Samples of a piece. */
static const uint64_t mosts[] = {0, 1, 100, 4097, 10000, 1 << 17, RENDER_PIECE_MAX, UINT64_MAX};

START_TEST(test_whole)
{
    const struct farlands_box box = box_of(&sizes[_i]);

    for (int i = 0; i < ROWS(mosts); i++) {
        struct region_pieces pieces;
        if (samples_in(&box) / (mosts[i] | 1) > 1 << 16)
            continue; /* far too many pieces */
        region_pieces_cut(&pieces, &box, mosts[i]);
        check_pieces(&pieces, &box, mosts[i], 4, 0, 4 * samples_in(&box));
        const struct farlands_box last = region_pieces_box(&pieces, pieces.count - 1);
        ck_assert_uint_eq(begin_of(&box, &last) + samples_in(&last), samples_in(&box));
    }
}
END_TEST

/* Ranges at both ends, around the limits of rows, layers and pieces, and anywhere. */
START_TEST(test_range)
{
    const struct farlands_box box = box_of(&sizes[_i]);
    const uint64_t row = (uint64_t)box.width, layer = row * (uint64_t)box.height;
    const uint64_t limits[] = {0, 1, row, layer, RENDER_PIECE_MAX, samples_in(&box)};
    uint64_t state = (uint64_t)_i + 1;

    for (int round = 0; round < 2000; round++) {
        const unsigned sample_size = chance_below(&state, 2) ? 4 : 2;
        const uint64_t total = samples_in(&box) * sample_size;
        uint64_t end[2];
        for (int i = 0; i < 2; i++) {
            const uint64_t limit = limits[chance_below(&state, ROWS(limits))];
            const uint64_t at = limit * sample_size * (uint64_t)chance_below(&state, 3);
            const uint64_t near = at + (uint64_t)chance_below(&state, 9) - 4;
            end[i] = (chance_below(&state, 4) ? near : chance(&state)) % total;
        }
        const uint64_t first = end[0] < end[1] ? end[0] : end[1];
        const uint64_t length = (end[0] < end[1] ? end[1] : end[0]) - first + 1;
        const uint64_t most =
            round % 4 ? RENDER_PIECE_MAX : samples_in(&box) / (1 + chance(&state) % 64);
        const struct region_pieces pieces = cut_range(&box, sample_size, first, length, most);
        check_pieces(&pieces, &box, most, sample_size, first, length);
    }
}
END_TEST

/* A range costs no more than it must. */
static const struct {
    struct size size;
    uint64_t first, length; /* bytes of f32 */
    struct size piece;      /* the only one */
} small[] = {
    {{4097, 4097, 1}, 0, 1, {1, 1, 1}},
    {{4097, 4097, 1}, 4097ul * 4097 * 4 - 1, 1, {1, 1, 1}},
    {{4097, 4097, 1}, 4097ul * 4 * 7 + 12, 8, {2, 1, 1}},
    {{4097, 4097, 1}, 4097ul * 4 * 7 - 4, 8, {4097, 2, 1}},
    {{4097, 4097, 1}, 4097ul * 4 * 7, 4097 * 4, {4097, 1, 1}},
    {{256, 256, 256}, 256ul * 256 * 4, 256 * 256 * 4, {256, 256, 1}},
    {{256, 256, 256}, 256ul * 256 * 4 - 4, 8, {256, 256, 2}},
    {{3, 5, 7}, 2, 1, {1, 1, 1}},
};

START_TEST(test_small_range)
{
    const struct farlands_box box = box_of(&small[_i].size);
    const struct size *expected = &small[_i].piece;
    const struct region_pieces pieces =
        cut_range(&box, 4, small[_i].first, small[_i].length, RENDER_PIECE_MAX);

    check_pieces(&pieces, &box, RENDER_PIECE_MAX, 4, small[_i].first, small[_i].length);
    ck_assert_uint_eq(pieces.count, 1);
    const struct farlands_box piece = region_pieces_box(&pieces, 0);
    must(piece.width == expected->width && piece.height == expected->height &&
             piece.depth == expected->depth,
         "row %d: %d x %d x %d", _i, piece.width, piece.height, piece.depth);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("region pieces");
    TCase *tcase = suite_case(suite, "cut");
    tcase_add_loop_test(tcase, test_whole, 0, ROWS(sizes));
    tcase_add_loop_test(tcase, test_range, 0, ROWS(sizes));
    tcase_add_loop_test(tcase, test_small_range, 0, ROWS(small));
    return suite_run(suite);
}
