/* The options of farlands render: argument sets, and the parsed options or the message. */
#include "server/prerender/options.h"

#include <errno.h>

#include "tests/unit/support/fixtures.h"

#define BOX(zoom) [ARG_WORLD] = "w", [ARG_LAYER] = "relief", [ARG_ZOOM] = (zoom)
#define BLOCK FARLANDS_UNIT
#define LIMIT FARLANDS_LIMIT

static const struct {
    const char *option[ARG_COUNT];
    struct render_options expected;
} valid[] = {
    {{BOX("3")}, {.box = {.scale = 1, .zoom_min = 3, .zoom_max = 3, .whole = true}, .of = 1}},
    {{BOX("0-12")}, {.box = {.scale = 1, .zoom_max = 12, .whole = true}, .of = 1}},
    {{BOX("-3--1")}, {.box = {.scale = 1, .zoom_min = -3, .zoom_max = -1, .whole = true}, .of = 1}},
    {{BOX("-3-1")}, {.box = {.scale = 1, .zoom_min = -3, .zoom_max = 1, .whole = true}, .of = 1}},
    {{BOX("3"), [ARG_FORMAT] = "png"},
     {.box = {.scale = 1, .zoom_min = 3, .zoom_max = 3, .whole = true}, .of = 1}},
    {{BOX("3"), [ARG_FORMAT] = "webp"},
     {.box = {.format = FORMAT_WEBP, .scale = 1, .zoom_min = 3, .zoom_max = 3, .whole = true},
      .of = 1}},
    {{BOX("3"), [ARG_BBOX] = "-4096,0,4096.5,0.0009765625", [ARG_SCALE] = "2"},
     {.box = {.scale = 2,
              .zoom_min = 3,
              .zoom_max = 3,
              .least = {-4096 * BLOCK, 0},
              .beyond = {4096 * BLOCK + BLOCK / 2, 1}},
      .of = 1}},
    {{BOX("3"), [ARG_BBOX] = "-4503599627370496,0,4503599627370496,1"},
     {.box = {.scale = 1,
              .zoom_min = 3,
              .zoom_max = 3,
              .least = {-LIMIT, 0},
              .beyond = {LIMIT, BLOCK}},
      .of = 1}},
    {{BOX("3"), [ARG_SHARD] = "999999/1000000", [ARG_THREADS] = "1024", [ARG_DRY_RUN] = ""},
     {.mode = MODE_DRY_RUN,
      .box = {.scale = 1, .zoom_min = 3, .zoom_max = 3, .whole = true},
      .shard = 999999,
      .of = 1000000,
      .threads = 1024}},
    {{[ARG_TILES] = "-", [ARG_LIST] = ""},
     {.mode = MODE_LIST, .tiles = "-", .box = {.scale = 1, .whole = true}, .of = 1}},
    {{[ARG_TILES] = "list", [ARG_EXPORT] = "a.mbtiles"},
     {.mode = MODE_EXPORT,
      .archive = "a.mbtiles",
      .tiles = "list",
      .box = {.scale = 1, .whole = true},
      .of = 1}},
};

static void must_be_text(const char *text, const char *expected)
{
    must(!text == !expected && (!text || strcmp(text, expected) == 0), "%s, not %s",
         text ? text : "NULL", expected ? expected : "NULL");
}

START_TEST(test_valid)
{
    struct command_line line = {0};
    struct render_options options;
    char why[OPTION_WHY] = "";
    const struct render_options *expected = &valid[_i].expected;
    memcpy(line.option, valid[_i].option, sizeof line.option);
    ck_assert_msg(render_options_parse(&options, &line, why) == 0, "%s", why);
    ck_assert_int_eq(options.mode, expected->mode);
    must_be_text(options.archive, expected->archive);
    must_be_text(options.tiles, expected->tiles);
    ck_assert_int_eq(options.box.scale, expected->box.scale);
    ck_assert_int_eq(options.box.format, expected->box.format);
    ck_assert_int_eq(options.box.zoom_min, expected->box.zoom_min);
    ck_assert_int_eq(options.box.zoom_max, expected->box.zoom_max);
    ck_assert_int_eq(options.box.whole, expected->box.whole);
    ck_assert_mem_eq(options.box.least, expected->box.least, sizeof options.box.least);
    ck_assert_mem_eq(options.box.beyond, expected->box.beyond, sizeof options.box.beyond);
    ck_assert_uint_eq(options.shard, expected->shard);
    ck_assert_uint_eq(options.of, expected->of);
    ck_assert_uint_eq(options.threads, expected->threads);
}
END_TEST

static const struct {
    const char *option[ARG_COUNT];
    const char *why;
} invalid[] = {
    {{0}, "--world is missing: expected --world, --layer and --zoom, or --tiles"},
    {{[ARG_WORLD] = "w"}, "--layer is missing"},
    {{[ARG_WORLD] = "w", [ARG_LAYER] = "relief"}, "--zoom is missing"},
    {{[ARG_TILES] = "-", [ARG_WORLD] = "w"}, "--tiles cannot be combined with --world"},
    {{[ARG_TILES] = "-", [ARG_SCALE] = "1"}, "--tiles cannot be combined with --scale"},
    {{[ARG_TILES] = "-", [ARG_FORMAT] = "webp"}, "--tiles cannot be combined with --format"},
    {{BOX("3"), [ARG_FORMAT] = "jpg"}, "--format: \"jpg\"; expected png or webp"},
    {{BOX("3"), [ARG_FORMAT] = "r16"}, "--format: \"r16\"; expected png or webp"},
    {{BOX("3"), [ARG_FORMAT] = ""}, "--format: \"\"; expected png or webp"},
    {{BOX("3"), [ARG_DRY_RUN] = "", [ARG_LIST] = ""}, "--dry-run cannot be combined with --list"},
    {{BOX("3"), [ARG_LIST] = "", [ARG_EXPORT] = "a.mbtiles"},
     "--list cannot be combined with --export"},
    {{BOX("3"), [ARG_EXPORT] = ""}, "--export: expected a file name"},
    {{BOX("3"), [ARG_EXPORT] = "a"}, "ends in .mbtiles or .pmtiles, not \"a\""},
    {{BOX("3"), [ARG_EXPORT] = "a.mbtiles.zip"}, "ends in .mbtiles or .pmtiles"},
    {{BOX("3"), [ARG_EXPORT] = ".pmtiles"}, "ends in .mbtiles or .pmtiles"},
    {{BOX("")}, "--zoom: \"\"; expected a zoom or A-B"},
    {{BOX("-")}, "--zoom: \"-\""},
    {{BOX("1-")}, "--zoom: \"1-\""},
    {{BOX("1-2-3")}, "--zoom: \"1-2-3\""},
    {{BOX("40000")}, "--zoom: \"40000\""},
    {{BOX("3"), [ARG_BBOX] = ""}, "--bbox: \"\"; expected x0,y0,x1,y1"},
    {{BOX("3"), [ARG_BBOX] = "0,0,1"}, "--bbox: \"0,0,1\""},
    {{BOX("3"), [ARG_BBOX] = "0,0,1,1,"}, "--bbox: \"0,0,1,1,\""},
    {{BOX("3"), [ARG_BBOX] = "0,0,1,1,2"}, "--bbox: \"0,0,1,1,2\""},
    {{BOX("3"), [ARG_BBOX] = "0,0,1,x"}, "--bbox: \"0,0,1,x\""},
    {{BOX("3"), [ARG_BBOX] = "0,0,1,4503599627370497"},
     "--bbox: 4503599627370497 is beyond the limit of 2^52 blocks"},
    {{BOX("3"), [ARG_BBOX] = "0,0,1,99999999999999999999"}, "is beyond the limit"},
    {{BOX("3"), [ARG_SCALE] = "0"}, "--scale: \"0\"; expected a whole number from 1 to 2"},
    {{BOX("3"), [ARG_SCALE] = "3"}, "--scale: \"3\""},
    {{BOX("3"), [ARG_SHARD] = "1"}, "--shard: \"1\"; expected I/N"},
    {{BOX("3"), [ARG_SHARD] = "4/4"}, "--shard: \"4/4\""},
    {{BOX("3"), [ARG_SHARD] = "-1/4"}, "--shard: \"-1/4\""},
    {{BOX("3"), [ARG_SHARD] = "0/0"}, "--shard: \"0/0\""},
    {{BOX("3"), [ARG_SHARD] = "0/1000001"}, "--shard: \"0/1000001\""},
    {{BOX("3"), [ARG_THREADS] = "1025"},
     "--threads: \"1025\"; expected a whole number from 1 to 1024"},
    {{BOX("3"), [ARG_THREADS] = "many"}, "--threads: \"many\""},
};

START_TEST(test_invalid)
{
    struct command_line line = {0};
    struct render_options options;
    char why[OPTION_WHY] = "";
    memcpy(line.option, invalid[_i].option, sizeof line.option);
    ck_assert_int_eq(render_options_parse(&options, &line, why), -EINVAL);
    ck_assert_msg(strstr(why, invalid[_i].why) != NULL, "%s", why);
}
END_TEST

static const struct {
    const char *text;
    int count;       /* of layers; 0: an error */
    const char *why; /* or the last layer */
    enum format format;
} layer_lists[] = {
    {"relief", 1, "relief", FORMAT_PNG},
    {"gray,relief,normal", 3, "normal", FORMAT_PNG},
    {"relief,field.height", 2, "field.height", FORMAT_PNG},
    {"field.rain", 0, "--layer: world default has no field \"rain\"", FORMAT_PNG},
    {"field", 0, "has no \"field\"", FORMAT_PNG},
    {"field.height,field.height", 0, "--layer: field.height is listed twice", FORMAT_PNG},
    {"", 0, "--layer: world default has no \"\"; expected one of relief, hillshade", FORMAT_PNG},
    {"relief,", 0, "has no \"\"", FORMAT_PNG},
    {"relief,nothing", 0, "has no \"nothing\"", FORMAT_PNG},
    {"gray,relief,gray", 0, "--layer: gray is listed twice", FORMAT_PNG},
    {"relief,hillshade,slope,aspect", 4, "aspect", FORMAT_WEBP},
    {"relief,terrarium", 0, "--format: layer terrarium has no webp; expected png", FORMAT_WEBP},
    {"field.height", 0, "--format: layer field.height has no webp", FORMAT_WEBP},
};

START_TEST(test_layers)
{
    struct worlds *worlds = worlds_of(FRACTAL_WORLD);
    struct tile_box box = {.world = worlds->world, .format = layer_lists[_i].format};
    char why[OPTION_WHY] = "";
    const int err = render_options_layers(&box, layer_lists[_i].text, why);
    if (layer_lists[_i].count) {
        ck_assert_msg(err == 0, "%s", why);
        ck_assert_int_eq(box.layer_count, layer_lists[_i].count);
        ck_assert_int_eq(box.layer[box.layer_count - 1], layer_find(layer_lists[_i].why));
    } else {
        ck_assert_int_eq(err, -EINVAL);
        ck_assert_msg(strstr(why, layer_lists[_i].why) != NULL, "%s", why);
    }
    worlds_release(worlds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("options");
    TCase *tcase = suite_case(suite, "options");
    tcase_add_loop_test(tcase, test_valid, 0, ROWS(valid));
    tcase_add_loop_test(tcase, test_invalid, 0, ROWS(invalid));
    tcase_add_loop_test(tcase, test_layers, 0, ROWS(layer_lists));
    return suite_run(suite);
}
