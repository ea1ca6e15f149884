/* The plan of a response about a raster: status, part, and headers, from the request's headers. */
#include "server/api/raster_response.h"

#include "tests/unit/support/fixtures.h"

#define ETAG "\"0123456789abcdef/relief/1/2/3.png\""
#define OTHER "\"0123456789abcdef/relief/1/2/4.png\""

/* Lengths: of the picture, which is known late, and of the raw tile of 4 x 3 samples. */
enum { PICTURE = 48, RAW = 4 * 3 * 4 };
_Static_assert((int)PICTURE == (int)RAW, "one table for both");

static struct worlds *worlds;

static void set_up(void)
{
    worlds = worlds_of(FRACTAL_WORLD);
}

static void tear_down(void)
{
    worlds_release(worlds);
}

static struct raster raster_of(enum format format, bool region)
{
    struct raster raster = {
        .content = {.world = worlds->world,
                    .layer = layer_find("height"),
                    .field = world_height_field(worlds->world),
                    .range = {-50, 205}},
        .fingerprint = worlds->world->fingerprints.tile[0],
        .format = format,
        .grid = {.x = -1024, .y = 512, .step = 256, .width = 4, .height = 3},
        .region = region,
    };
    strcpy(raster.key, "0123456789abcdef/relief/1/2/3.png");
    return raster;
}

static const struct {
    const char *if_match, *if_none_match, *if_range, *range;
    unsigned get, head;     /* the status for either method */
    uint64_t first, length; /* of the part, for 206 */
} rows[] = {
    {.get = 200, .head = 200},
    /* If-Match. */
    {.if_match = ETAG, .get = 200, .head = 200},
    {.if_match = "*", .get = 200, .head = 200},
    {.if_match = OTHER ", " ETAG, .get = 200, .head = 200},
    {.if_match = OTHER, .get = 412, .head = 412},
    {.if_match = "W/" ETAG, .get = 412, .head = 412},
    {.if_match = "", .get = 412, .head = 412},
    /* If-None-Match. */
    {.if_none_match = ETAG, .get = 304, .head = 304},
    {.if_none_match = "W/" ETAG, .get = 304, .head = 304},
    {.if_none_match = "*", .get = 304, .head = 304},
    {.if_none_match = OTHER, .get = 200, .head = 200},
    {.if_none_match = "x", .get = 200, .head = 200},
    /* If-Match is evaluated first (RFC 9110 section 13.2.2). */
    {.if_match = OTHER, .if_none_match = ETAG, .get = 412, .head = 412},
    {.if_match = ETAG, .if_none_match = ETAG, .get = 304, .head = 304},
    /* Range, which HEAD ignores. */
    {.range = "bytes=0-9", .get = 206, .head = 200, .first = 0, .length = 10},
    {.range = "bytes=40-", .get = 206, .head = 200, .first = 40, .length = 8},
    {.range = "bytes=-5", .get = 206, .head = 200, .first = 43, .length = 5},
    {.range = "bytes=0-999", .get = 206, .head = 200, .first = 0, .length = 48},
    {.range = "bytes=47-47", .get = 206, .head = 200, .first = 47, .length = 1},
    {.range = "bytes=48-", .get = 416, .head = 200},
    {.range = "bytes=-0", .get = 416, .head = 200},
    {.range = "bytes=5-2", .get = 200, .head = 200},
    {.range = "bytes=0-1,3-4", .get = 200, .head = 200},
    {.range = "samples=0-1", .get = 200, .head = 200},
    /* Conditions before ranges. */
    {.if_match = OTHER, .range = "bytes=0-9", .get = 412, .head = 412},
    {.if_none_match = ETAG, .range = "bytes=0-9", .get = 304, .head = 304},
    {.if_none_match = ETAG, .range = "bytes=48-", .get = 304, .head = 304},
    {.if_match = ETAG, .range = "bytes=0-9", .get = 206, .head = 200, .first = 0, .length = 10},
    /* If-Range. */
    {.if_range = ETAG, .range = "bytes=2-3", .get = 206, .head = 200, .first = 2, .length = 2},
    {.if_range = OTHER, .range = "bytes=2-3", .get = 200, .head = 200},
    {.if_range = "W/" ETAG, .range = "bytes=2-3", .get = 200, .head = 200},
    {.if_range = "Sun, 22 Nov 2026 06:20:00 GMT", .range = "bytes=2-3", .get = 200, .head = 200},
    {.if_range = OTHER, .range = "bytes=48-", .get = 200, .head = 200},
    {.if_range = ETAG, .get = 200, .head = 200},
};

enum { RAW_TILE, RAW_REGION, PICTURE_TILE, PICTURE_REGION, RASTERS };

START_TEST(test_status)
{
    const int row = _i / RASTERS / 2, kind = _i / 2 % RASTERS;
    const bool picture = kind >= PICTURE_TILE, region = kind % 2, head = _i % 2;
    const struct http_request request = {.method = head ? HTTP_HEAD : HTTP_GET,
                                         .if_match = rows[row].if_match,
                                         .if_none_match = rows[row].if_none_match,
                                         .if_range = rows[row].if_range,
                                         .range = rows[row].range};
    const struct raster raster = raster_of(picture ? FORMAT_PNG : FORMAT_F32, region);
    struct raster_plan plan;
    unsigned expected = head ? rows[row].head : rows[row].get;

    if (picture && region && (expected == 206 || expected == 416))
        expected = 200;
    raster_response_plan(&plan, &raster, "", &request, &(struct modification){0});
    ck_assert_str_eq(plan.etag, ETAG);
    if (picture) { /* before it is made, its ranges are open */
        ck_assert_int_eq(plan.length, HTTP_LENGTH_UNKNOWN);
        ck_assert_uint_eq(plan.status, expected == 206 || expected == 416 ? 200 : expected);
        raster_response_set_length(&plan, PICTURE);
    }
    ck_assert_int_eq(plan.length, RAW);
    must(plan.status == expected, "row %d, raster %d, %s: %u", row, kind, head ? "HEAD" : "GET",
         plan.status);
    if (expected == 206)
        must(plan.part.first == rows[row].first && plan.part.length == rows[row].length,
             "row %d: %lu bytes from %lu", row, (long)plan.part.length, (long)plan.part.first);
    raster_response_set_length(&plan, 1); /* known already */
    ck_assert_uint_eq(plan.status, expected);
    ck_assert_int_eq(plan.length, RAW);
}
END_TEST

START_TEST(test_length)
{
    static const struct {
        enum format format;
        int depth;
        int64_t length;
    } lengths[] = {{FORMAT_F32, 0, 48},
                   {FORMAT_R16, 0, 24},
                   {FORMAT_U8, 0, 12},
                   {FORMAT_F32, 5, 240},
                   {FORMAT_PNG, 0, HTTP_LENGTH_UNKNOWN},
                   {FORMAT_WEBP, 0, HTTP_LENGTH_UNKNOWN}};
    const struct http_request request = {.method = HTTP_GET};
    struct raster_plan plan;

    for (int i = 0; i < ROWS(lengths); i++) {
        struct raster raster = raster_of(lengths[i].format, true);
        raster.depth = lengths[i].depth;
        raster_response_plan(&plan, &raster, "", &request, &(struct modification){0});
        ck_assert_int_eq(plan.length, lengths[i].length);
    }
}
END_TEST

START_TEST(test_cache_control)
{
    const struct raster raster = raster_of(FORMAT_F32, false);
    const struct http_request request = {.method = HTTP_GET};
    const char *versions[][2] = {{"", CACHE_SHORT},
                                 {worlds->world->fingerprints.tile[0], CACHE_FOREVER},
                                 {"0000000000000000", CACHE_CHECK},
                                 {"x", CACHE_CHECK}};
    struct raster_plan plan;

    for (int i = 0; i < ROWS(versions); i++) {
        raster_response_plan(&plan, &raster, versions[i][0], &request, &(struct modification){0});
        ck_assert_str_eq(plan.cache_control, versions[i][1]);
    }
}
END_TEST

static const char *value_of(const struct raster_headers *headers, const char *name)
{
    const char *value = NULL;
    for (int i = 0; i < headers->headers.count; i++)
        if (strcmp(headers->headers.header[i].name, name) == 0) {
            must(!value, "%s twice", name);
            value = headers->headers.header[i].value;
        }
    return value ? value : "-";
}

static const struct {
    enum format format;
    bool region;
    int depth;
    const char *range;
    const char *accept_ranges, *content_range, *width, *height, *layers, *origin, *step;
    const char *scale; /* the ranges of values */
} headers[] = {
    {FORMAT_PNG, false, 0, NULL, "bytes", "-", "-", "-", "-", "-", "-", NULL},
    {FORMAT_PNG, false, 0, "bytes=2-", "bytes", "bytes 2-47/48", "-", "-", "-", "-", "-", NULL},
    {FORMAT_PNG, true, 0, "bytes=2-", "none", "-", "4", "3", "-", "-1 0.5", "0.25",
     "0.0038910505836575876"},
    {FORMAT_F32, false, 0, NULL, "bytes", "-", "4", "3", "-", "-1 0.5", "0.25", ""},
    {FORMAT_F32, true, 0, "bytes=-1", "bytes", "bytes 47-47/48", "4", "3", "-", "-1 0.5", "0.25",
     ""},
    {FORMAT_R16, true, 0, "bytes=0-1", "bytes", "bytes 0-1/24", "4", "3", "-", "-1 0.5", "0.25",
     "0.0038910505836575876"},
    {FORMAT_U8, true, 0, "bytes=0-1", "bytes", "bytes 0-1/12", "4", "3", "-", "-1 0.5", "0.25",
     "1"},
    {FORMAT_F32, true, 9, "bytes=1-1", "bytes", "bytes 1-1/432", "4", "3", "9", "-1 0.5 -2", "0.25",
     NULL},
};

START_TEST(test_headers)
{
    const struct http_request request = {.method = HTTP_GET, .range = headers[_i].range};
    struct raster raster = raster_of(headers[_i].format, headers[_i].region);
    struct raster_plan plan;
    struct raster_headers out;

    raster.depth = headers[_i].depth;
    raster.z = -2048;
    raster_response_plan(&plan, &raster, "", &request, &(struct modification){0});
    raster_response_set_length(&plan, PICTURE);
    raster_response_headers(&out, &raster, &plan);
    ck_assert_str_eq(value_of(&out, "ETag"), ETAG);
    ck_assert_str_eq(value_of(&out, "Cache-Control"), CACHE_SHORT);
    ck_assert_str_eq(value_of(&out, "Access-Control-Allow-Origin"), "*");
    ck_assert_str_eq(value_of(&out, "Accept-Ranges"), headers[_i].accept_ranges);
    ck_assert_str_eq(value_of(&out, "Content-Range"), headers[_i].content_range);
    ck_assert_str_eq(value_of(&out, "Farlands-Width"), headers[_i].width);
    ck_assert_str_eq(value_of(&out, "Farlands-Height"), headers[_i].height);
    ck_assert_str_eq(value_of(&out, "Farlands-Depth"), headers[_i].layers);
    ck_assert_str_eq(value_of(&out, "Farlands-Origin"), headers[_i].origin);
    ck_assert_str_eq(value_of(&out, "Farlands-Step"), headers[_i].step);
    const bool values = headers[_i].scale, scaled = values && headers[_i].scale[0];
    ck_assert_str_eq(value_of(&out, "Farlands-Range"), values ? "-50 205" : "-");
    ck_assert_str_eq(value_of(&out, "Farlands-Scale"), scaled ? headers[_i].scale : "-");
    ck_assert_str_eq(value_of(&out, "Farlands-Offset"), scaled ? "-50" : "-");
    ck_assert_str_eq(value_of(&out, "Farlands-Field"), "-");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("raster response");
    TCase *tcase = suite_case(suite, "plan");
    tcase_add_unchecked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_status, 0, ROWS(rows) * RASTERS * 2);
    tcase_add_test(tcase, test_length);
    tcase_add_test(tcase, test_cache_control);
    tcase_add_loop_test(tcase, test_headers, 0, ROWS(headers));
    return suite_run(suite);
}
