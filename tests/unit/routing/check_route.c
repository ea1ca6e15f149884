/* URLs: every kind, every kind of error, and noise. */
#include "config/values/seed.h"
#include "server/routing/route.h"

#include <inttypes.h>
#include <math.h>

#include "noise/farlands.h"
#include "tests/unit/support/fixtures.h"

#define WORD63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123"
/* The longest name of a layer. */
#define LAYER69 "field." WORD63
#define MOST "9223372036854775807"
#define LEAST "-9223372036854775808"

static struct guarded memory;

static void set_up(void)
{
    guarded_new(&memory, 65536);
}

static void tear_down(void)
{
    guarded_free(&memory);
}

/* Call route_parse with URI's NUL at a guard page, and check that WHY is a string. */
static unsigned parse(struct route *route, const char *uri, char why[ROUTE_WHY + 1])
{
    memset(route, 'r', sizeof *route);
    memset(why, 'w', ROUTE_WHY + 1);
    unsigned status =
        route_parse(route, (const char *)guarded_copy(&memory, uri, strlen(uri) + 1), why);
    must(why[ROUTE_WHY] == 'w', "why overrun by %s", uri);
    must(status == 0 || status == 400 || status == 404 || status == 413 ||
             (status == 501 && route->fault.code == WMTS_OPERATION_NOT_SUPPORTED),
         "%s: %u", uri, status);
    must(memchr(route->fault.locator, 0, sizeof route->fault.locator), "no end of its locator");
    must(status == 0 || memchr(why, 0, ROUTE_WHY), "no end of why: %s", uri);
    return status;
}

#define TILE_OF(layer)                                        \
    "SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=" layer \
    "&STYLE=default&FORMAT=image%2Fpng&TILEMATRIXSET=S&TILEMATRIX=4&TILECOL=5&TILEROW=6"

static const struct {
    const char *uri;
    struct route route;
} good[] = {
    {"/", {.kind = ROUTE_VIEWER}},
    {"/worlds.json", {.kind = ROUTE_WORLDS}},
    {"/healthz", {.kind = ROUTE_HEALTH}},
    {"/readyz", {.kind = ROUTE_READY}},
    {"/metrics", {.kind = ROUTE_METRICS}},
    {"/viewer/viewer.js", {.kind = ROUTE_ASSET, .layer = "viewer.js"}},
    {"/robots.txt", {.kind = ROUTE_ASSET, .layer = "robots.txt"}},
    {"/favicon.ico", {.kind = ROUTE_ASSET, .layer = "favicon.ico"}},
    {"/favicon.ico?v=2", {.kind = ROUTE_ASSET, .layer = "favicon.ico"}},
    {"/apple-touch-icon.png", {.kind = ROUTE_ASSET, .layer = "apple-touch-icon.png"}},
    {"/viewer/viewer.css", {.kind = ROUTE_ASSET, .layer = "viewer.css"}},
    {"/default.json", {.kind = ROUTE_WORLD, .world = "default"}},
    {"/a.json", {.kind = ROUTE_WORLD, .world = "a"}},
    {"/" WORD63 ".json", {.kind = ROUTE_WORLD, .world = WORD63}},
    {"/default/relief.json", {.kind = ROUTE_TILEJSON, .world = "default", .layer = "relief"}},
    {"/default:7/height.xml",
     {.kind = ROUTE_GDAL, .world = "default", .layer = "height", .seeded = true, .seed = 7}},
    {"/w/wmts.xml.xml", {.kind = ROUTE_GDAL, .world = "w", .layer = "wmts.xml"}},
    {"/wmts.xml", {.kind = ROUTE_WMTS}},
    {"/wmts.xml?", {.kind = ROUTE_WMTS}},
    /* Signed seeds, and those that are other text. */
    {"/w:-1.json", {.kind = ROUTE_WORLD, .world = "w", .seeded = true, .seed = UINT64_MAX}},
    {"/w:007.json", {.kind = ROUTE_WORLD, .world = "w", .seeded = true, .seed = 7}},
    {"/w:hello.json",
     {.kind = ROUTE_WORLD, .world = "w", .seeded = true, .seed = UINT64_C(11831194018420276491)}},
    {"/w:a:b/l/1/2/3.png",
     {ROUTE_TILE, "w", "l", "png", 1, 2, 3, .scale = 1, .seeded = true,
      .seed = UINT64_C(16600709238102167904)}},
    {"/default:7/wmts.xml", {.kind = ROUTE_WMTS, .world = "default", .seeded = true, .seed = 7}},
    /* Keys and their case as clients append them, also those that look for another service. */
    {"/wmts.xml?SERVICE=WMTS&REQUEST=GetCapabilities", {.kind = ROUTE_WMTS}},
    {"/wmts.xml?request=getcapabilities&service=wmts&Version=1.0.0&&x", {.kind = ROUTE_WMTS}},
    {"/w/wmts.xml?SERVICE=WMS&Request=GETCAPABILITIES", {.kind = ROUTE_WMTS, .world = "w"}},
    {"/wmts.xml?service=a&service=b", {.kind = ROUTE_WMTS}},
    /* By keys and values: what is not known is ignored. */
    {"/wmts", {.kind = ROUTE_WMTS}},
    {"/w/wmts?", {.kind = ROUTE_WMTS, .world = "w"}},
    {"/w:7/wmts?Request=GetCapabilities&AcceptVersions=2.0.0,1.0.0&%zz=%",
     {.kind = ROUTE_WMTS, .world = "w", .seeded = true, .seed = 7}},
    {"/wmts?" TILE_OF("w:relief"),
     {ROUTE_WMTS_TILE, "w", "relief", "png", 4, 5, 6, .scale = 1, .set = "S"}},
    {"/wmts.xml?" TILE_OF("w%3Ahello%3Arelief") "&token=%20a&=&x",
     {ROUTE_WMTS_TILE, "w", "relief", "png", 4, 5, 6, .scale = 1, .set = "S", .others = true,
      .seeded = true, .seed = UINT64_C(11831194018420276491)}},
    {"/w:7/wmts?" TILE_OF("w:007:relief"),
     {ROUTE_WMTS_TILE, "w", "relief", "png", 4, 5, 6, .scale = 1, .set = "S", .seeded = true,
      .seed = 7}},
    {"/wmts?service=wmts&request=gettile&version=1.0.0&layer=w:l&style=&format=image/png"
     "&TileMatrixSet=S&TileMatrix=-99999999999999999999&TileRow=" MOST "&TileCol=-1",
     {ROUTE_WMTS_TILE, "w", "l", "png", INT64_MIN, -1, INT64_MAX, .scale = 1, .set = "S"}},
    {"/0-_/terrain-rgb.json", {.kind = ROUTE_TILEJSON, .world = "0-_", .layer = "terrain-rgb"}},
    {"/default/nope.json", {.kind = ROUTE_TILEJSON, .world = "default", .layer = "nope"}},
    {"/default/relief/10/512/512.png",
     {ROUTE_TILE, "default", "relief", "png", 10, 512, 512, .scale = 1}},
    {"/default/relief/10/512/512@2x.png",
     {ROUTE_TILE, "default", "relief", "png", 10, 512, 512, .scale = 2}},
    {"/default/height/0/0/0.r16", {ROUTE_TILE, "default", "height", "r16", 0, 0, 0, .scale = 1}},
    {"/default/height/0/0/0@2x.r16", {ROUTE_TILE, "default", "height", "r16", 0, 0, 0, .scale = 2}},
    {"/default/height/0/0/0.f32", {ROUTE_TILE, "default", "height", "f32", 0, 0, 0, .scale = 1}},
    {"/default/height/0/0/0@2x.f32", {ROUTE_TILE, "default", "height", "f32", 0, 0, 0, .scale = 2}},
    {"/w/gray/-26/-1/-2.png", {ROUTE_TILE, "w", "gray", "png", -26, -1, -2, .scale = 1}},
    {"/w/l/" LEAST "/" LEAST "/" LEAST ".png",
     {ROUTE_TILE, "w", "l", "png", INT64_MIN, INT64_MIN, INT64_MIN, .scale = 1}},
    {"/w/l/" MOST "/" MOST "/" MOST "@2x.png",
     {ROUTE_TILE, "w", "l", "png", INT64_MAX, INT64_MAX, INT64_MAX, .scale = 2}},
    {"/w/l/1/2/3.png?v=0123456789abcdef",
     {ROUTE_TILE, "w", "l", "png", 1, 2, 3, .scale = 1, .version = "0123456789abcdef"}},
    {"/w/l/1/2/3@2x.f32?v=x", {ROUTE_TILE, "w", "l", "f32", 1, 2, 3, .scale = 2, .version = "x"}},
    {"/w/l/1/2/3.png?border=1", {ROUTE_TILE, "w", "l", "png", 1, 2, 3, .scale = 1, .border = true}},
    {"/w/l/1/2/3@2x.png?v=x&border=1",
     {ROUTE_TILE, "w", "l", "png", 1, 2, 3, .scale = 2, .border = true, .version = "x"}},
    {"/w/l/1/2/3.png?border=0", {ROUTE_TILE, "w", "l", "png", 1, 2, 3, .scale = 1}},
    {"/default:0.json", {.kind = ROUTE_WORLD, .world = "default", .seeded = true}},
    {"/w:18446744073709551615.json",
     {.kind = ROUTE_WORLD, .world = "w", .seeded = true, .seed = UINT64_MAX}},
    {"/" WORD63 ":18446744073709551615/relief.json",
     {.kind = ROUTE_TILEJSON,
      .world = WORD63,
      .layer = "relief",
      .seeded = true,
      .seed = UINT64_MAX}},
    {"/w:42/l/1/-2/3@2x.png?v=a",
     {ROUTE_TILE, "w", "l", "png", 1, -2, 3, .scale = 2, .version = "a", .seeded = true,
      .seed = 42}},
    {"/w:9223372036854775808/height?x=1&y=2",
     {ROUTE_HEIGHT, "w", .at_x = 1024, .at_y = 2048, .seeded = true, .seed = UINT64_C(1) << 63}},
    {"/w:7/region.f32?x=0&y=0&width=1&height=1",
     {ROUTE_REGION, "w", "", "f32", .step = 1024, .width = 1, .height = 1, .seeded = true,
      .seed = 7}},
    /* A version that cannot be a world's is ignored. */
    {"/w/l/1/2/3.png?v=", {ROUTE_TILE, "w", "l", "png", 1, 2, 3, .scale = 1}},
    {"/w/l/1/2/3.png?v=" WORD63 "4", {ROUTE_TILE, "w", "l", "png", 1, 2, 3, .scale = 1}},
    /* Tiles, documents and the viewer ignore other parameters. */
    {"/?", {.kind = ROUTE_VIEWER}},
    {"/?x=1#2", {.kind = ROUTE_VIEWER}},
    {"/worlds.json?v=1", {.kind = ROUTE_WORLDS}},
    {"/w/l/1/2/3.png?vv=a&w=b&v=c&x=d",
     {ROUTE_TILE, "w", "l", "png", 1, 2, 3, .scale = 1, .version = "c"}},
    {"/w/l/1/2/3.png?_=1700000000", {ROUTE_TILE, "w", "l", "png", 1, 2, 3, .scale = 1}},
    {"/w/l.json?v=1&V=2", {.kind = ROUTE_TILEJSON, .world = "w", .layer = "l"}},
    {"/w/l.json?f=json&token=a%", {.kind = ROUTE_TILEJSON, .world = "w", .layer = "l"}},
    {"/w/l.json?format=png", {.kind = ROUTE_TILEJSON, .world = "w", .layer = "l"}},
    {"/w/l.json?_=1&format=webp",
     {.kind = ROUTE_TILEJSON, .world = "w", .layer = "l", .format = FORMAT_WEBP}},
    {"/w/l.xml?format=jpg", {.kind = ROUTE_GDAL, .world = "w", .layer = "l"}},
    {"/w/l/1/2/3@2x.webp?border=1",
     {ROUTE_TILE, "w", "l", "webp", 1, 2, 3, .scale = 2, .border = true}},
    {"/healthz?x=1&x=2", {.kind = ROUTE_HEALTH}},
    {"/w/height?x=1&&y=-2&", {.kind = ROUTE_HEIGHT, .world = "w", .at_x = 1024, .at_y = -2048}},
    /* Numbers in any form; places are rounded. */
    {"/w/height?x=+1.0&y=-2e0", {.kind = ROUTE_HEIGHT, .world = "w", .at_x = 1024, .at_y = -2048}},
    {"/w/height?x=0.1&y=-00.30", {.kind = ROUTE_HEIGHT, .world = "w", .at_x = 102, .at_y = -307}},
    {"/w/spawn?x=.5&y=1e3&min=-35e-1&max=+12.&slope=2.5E-1",
     {ROUTE_SPAWN, "w", .at_x = 512, .at_y = 1024000, .min = -3.5F, .max = 12, .slope = 0.25F}},
    {"/w/region.f32?x=0.00048828125&y=-0.00048828125&width=1e3&height=+5&step=2.0",
     {ROUTE_REGION, "w", "", "f32", .at_x = 1, .step = 2048, .width = 1000, .height = 5}},
    {"/default/height?x=0&y=0", {.kind = ROUTE_HEIGHT, .world = "default"}},
    {"/w/height?x=1&y=-2", {.kind = ROUTE_HEIGHT, .world = "w", .at_x = 1024, .at_y = -2048}},
    {"/w/height?y=-2&x=1", {.kind = ROUTE_HEIGHT, .world = "w", .at_x = 1024, .at_y = -2048}},
    {"/w/height?x=0.5&y=-0.0009765625",
     {.kind = ROUTE_HEIGHT, .world = "w", .at_x = 512, .at_y = -1}},
    {"/w/height?x=4503599627370496&y=-4503599627370496",
     {.kind = ROUTE_HEIGHT, .world = "w", .at_x = FARLANDS_LIMIT, .at_y = -FARLANDS_LIMIT}},
    {"/w/height?x=1&y=2&fields=a,b", {ROUTE_HEIGHT, "w", .at_x = 1024, .at_y = 2048}},
    {"/w/heights?at=1,2&fields=a", {.kind = ROUTE_HEIGHTS, .world = "w"}},
    {"/w/spawn?x=1&y=0.5",
     {ROUTE_SPAWN, "w", .at_x = 1024, .at_y = 512, .min = -INFINITY, .max = INFINITY,
      .slope = INFINITY}},
    {"/w/spawn?x=0&y=0&min=-3.5&max=12&slope=0.25",
     {ROUTE_SPAWN, "w", .min = -3.5F, .max = 12, .slope = 0.25F}},
    {"/w/spawn?x=0&y=0&under_water=1&near_water=256&biome=deep_sea,7&count=64",
     {ROUTE_SPAWN, "w", .min = -INFINITY, .max = INFINITY, .slope = INFINITY, .under_water = true,
      .near_water = 256, .count = 64}},
    {"/w/spawn?x=0&y=0&under_water=0&near_water=1e0&count=+1",
     {ROUTE_SPAWN, "w", .min = -INFINITY, .max = INFINITY, .slope = INFINITY, .near_water = 1,
      .count = 1}},
    {"/w/downstream?x=1&y=0.5", {ROUTE_DOWNSTREAM, "w", .at_x = 1024, .at_y = 512}},
    {"/w/downstream?x=1&y=0.5&crs=lnglat",
     {ROUTE_DOWNSTREAM, "w", .at_x = 1024, .at_y = 512, .crs = CRS_LNGLAT}},
    {"/w/downstream?x=1&y=0&limit=4e3&after=-3,9223372036854775807,2",
     {ROUTE_DOWNSTREAM, "w", .at_x = 1024}},
    {"/w/region.f32?x=-1&y=2&width=1&height=4097",
     {ROUTE_REGION, "w", "", "f32", .at_x = -1024, .at_y = 2048, .step = 1024, .width = 1,
      .height = 4097}},
    {"/w/region.png?x=0&y=0&width=2&height=3&layer=relief",
     {.kind = ROUTE_REGION,
      .world = "w",
      .layer = "relief",
      .extension = "png",
      .step = FARLANDS_UNIT,
      .width = 2,
      .height = 3}},
    {"/w/" LAYER69 "/1/2/3.png", {ROUTE_TILE, "w", LAYER69, "png", 1, 2, 3, .scale = 1}},
    {"/w/" LAYER69 ".json", {.kind = ROUTE_TILEJSON, .world = "w", .layer = LAYER69}},
    {"/w/region.png?x=0&y=0&width=2&height=3&layer=" LAYER69,
     {ROUTE_REGION, "w", LAYER69, "png", .step = 1024, .width = 2, .height = 3}},
    {"/w/region.r16?x=0&y=0&width=2&height=3&field=" WORD63 "&range=-50,+2.5e2",
     {ROUTE_REGION, "w", "", "r16", .step = 1024, .width = 2, .height = 3, .field = WORD63,
      .range = {-50, 250}}},
    {"/w/region.u8?x=0&y=0&width=2&height=3&range=.5,.75",
     {ROUTE_REGION, "w", "", "u8", .step = 1024, .width = 2, .height = 3, .range = {0.5F, 0.75F}}},
    {"/w/region.png?x=0&y=0&width=17&height=17&step=1048576&v=a",
     {ROUTE_REGION, "w", "", "png", .step = INT64_C(1) << 30, .width = 17, .height = 17,
      .version = "a"}},
    {"/w/region.r16?x=0&y=0&width=2&height=3&step=0.0009765625",
     {ROUTE_REGION, "w", "", "r16", .step = 1, .width = 2, .height = 3}},
    {"/w/region.f32?x=4503599627370492&y=0&width=5&height=1",
     {ROUTE_REGION, "w", "", "f32", .at_x = FARLANDS_LIMIT - 4096, .step = 1024, .width = 5,
      .height = 1}},
    {"/w/volume.f32?x=1&y=2&z=-3&width=256&height=256&depth=256&step=2",
     {ROUTE_VOLUME, "w", "", "f32", .at_x = 1024, .at_y = 2048, .at_z = -3072, .step = 2048,
      .width = 256, .height = 256, .depth = 256}},
    {"/w/volume.f32?x=0&y=0&z=0&width=4096&height=4096&depth=1",
     {ROUTE_VOLUME, "w", "", "f32", .step = 1024, .width = 4096, .height = 4096, .depth = 1}},
    /* A layer may have such a name. */
    {"/w/heights.json", {.kind = ROUTE_TILEJSON, .world = "w", .layer = "heights"}},
};

START_TEST(test_good)
{
    const char *uri = good[_i].uri;
    const struct route *expected = &good[_i].route;
    struct route route;
    char why[ROUTE_WHY + 1];
    unsigned status = parse(&route, uri, why);
    ck_assert_msg(status == 0, "%s: %u %s", uri, status, why);
    ck_assert_msg(route.kind == expected->kind, "%s: kind %d", uri, (int)route.kind);
    if (*expected->world)
        ck_assert_msg(strcmp(route.world, expected->world) == 0, "%s: %s", uri, route.world);
    if (*expected->layer)
        ck_assert_msg(strcmp(route.layer, expected->layer) == 0, "%s: %s", uri, route.layer);
    ck_assert_msg(route.seeded == expected->seeded, "%s: seeded %d", uri, route.seeded);
    ck_assert_msg(route.seed == expected->seed, "%s: seed %" PRIu64, uri, route.seed);
    if (route.kind == ROUTE_WMTS_TILE)
        ck_assert_msg(strcmp(route.set, expected->set) == 0 && route.others == expected->others,
                      "%s: %s, others %d", uri, route.set, route.others);
    if (route.kind == ROUTE_TILE || route.kind == ROUTE_WMTS_TILE) {
        ck_assert_msg(strcmp(route.extension, expected->extension) == 0, "%s: %s", uri,
                      route.extension);
        ck_assert_msg(strcmp(route.version, expected->version) == 0, "%s: %s", uri, route.version);
        ck_assert_msg(route.z == expected->z, "%s: z %" PRId64, uri, route.z);
        ck_assert_msg(route.x == expected->x, "%s: x %" PRId64, uri, route.x);
        ck_assert_msg(route.y == expected->y, "%s: y %" PRId64, uri, route.y);
        ck_assert_msg(route.scale == expected->scale, "%s: scale %d", uri, route.scale);
        ck_assert_msg(route.border == expected->border, "%s: border %d", uri, route.border);
        ck_assert_msg(route.format == expected->format, "%s: format %d", uri, route.format);
    }
    ck_assert_msg(route.at_x == expected->at_x, "%s: x %" PRId64, uri, route.at_x);
    ck_assert_msg(route.at_y == expected->at_y, "%s: y %" PRId64, uri, route.at_y);
    ck_assert_msg(route.at_z == expected->at_z, "%s: z %" PRId64, uri, route.at_z);
    if (route.kind == ROUTE_SPAWN)
        ck_assert_msg(route.min == expected->min && route.max == expected->max &&
                          route.slope == expected->slope,
                      "%s: %g %g %g", uri, (double)route.min, (double)route.max,
                      (double)route.slope);
    if (route.kind == ROUTE_REGION || route.kind == ROUTE_VOLUME) {
        ck_assert_msg(strcmp(route.extension, expected->extension) == 0, "%s: %s", uri,
                      route.extension);
        ck_assert_msg(strcmp(route.version, expected->version) == 0, "%s: %s", uri, route.version);
        ck_assert_msg(route.step == expected->step, "%s: step %" PRId64, uri, route.step);
        ck_assert_msg(route.width == expected->width && route.height == expected->height &&
                          route.depth == expected->depth,
                      "%s: %d %d %d", uri, route.width, route.height, route.depth);
        ck_assert_msg(strcmp(route.field, expected->field) == 0, "%s: %s", uri, route.field);
        ck_assert_msg(memcmp(route.range, expected->range, sizeof route.range) == 0, "%s: %g to %g",
                      uri, (double)route.range[0], (double)route.range[1]);
    }
}
END_TEST

/* Each kind of URL has a row; ROUTE_METRICS is the last one. */
START_TEST(test_all_kinds)
{
    bool has[ROUTE_METRICS + 1] = {false};
    for (int i = 0; i < ROWS(good); i++)
        has[good[i].route.kind] = true;
    for (int kind = 0; kind <= ROUTE_METRICS; kind++)
        must(has[kind], "no row of kind %d", kind);
}
END_TEST

static const struct {
    const char *uri;
    unsigned status; /* 0: 400 or 404 */
    const char *why;
} bad[] = {
    /* No such URL. */
    {"", 0, ""},
    {"x", 0, ""},
    {"*", 0, ""},
    {"worlds.json", 0, ""},
    {"//", 0, ""},
    {"//worlds.json", 400, "begins with //; if a proxy sent it"},
    {"///", 400, "proxy_pass http://HOST:PORT/;"},
    {"/default//relief.json", 400, "empty"},
    {"/nope", 404,
     "/worlds.json lists worlds, and there are /{world}.json, /, /wmts.xml, /wmts, /robots.txt"},
    {"/robots.txt/", 400, "empty"},
    {"/Robots.txt", 404, ""},
    {"/apple-touch-icon-120x120.png", 404, "/apple-touch-icon.png"},
    {"/w/robots.txt", 404, ""},
    {"/w/nope", 404, "wmts.xml, wmts, height, heights, spawn, downstream, region.f32, volume.f32"},
    {"/nope.txt", 404, ""},
    {"/worlds.json/", 0, ""},
    {"/healthz/", 0, ""},
    {"/Healthz", 404, ""},
    {"/viewer", 404, ""},
    {"/viewer/", 0, ""},
    {"/viewer/a/b", 404, ""},
    {"/default", 404, ""},
    {"/default/", 0, ""},
    {"/default/relief", 404, ""},
    {"/default/relief/", 0, ""},
    {"/default/relief/1", 404, ""},
    {"/default/relief/1/2", 404, ""},
    {"/default/relief/1/2/3/4.png", 404, ""},
    {"/default/relief/1/2/3.png/", 404, ""},
    {"/default/1/2/3.png", 0, ""},
    {"/.json", 0, ""},
    {"/.xml", 404, ""},
    {"/default.xml", 404, ""},
    {"/default/.xml", 404, "{layer}.xml"},
    {"/:1/wmts.xml", 404, "world"},
    {"/default/wmts.json.txt", 404, "wmts.xml"},
    {"/default/" LAYER69 "4.xml", 404, ""},
    {"/wmts/x", 404, ""},
    {"/Wmts?request=GetCapabilities", 404, "/wmts"},
    {"/default/.json", 0, ""},
    {"/default//1/2/3.png", 400, "empty"},
    {"//relief/1/2/3.png", 400, "begins with //"},
    {"//..", 400, "begins with //"},
    {"/../etc/passwd", 400, ".."},
    {"/default/../relief.json", 400, ".."},
    {"/viewer/../index.html", 400, ".."},
    {"/viewer/..", 400, ".."},
    {"/viewer/.", 400, "."},
    {"/./worlds.json", 400, "."},
    {"http://host/worlds.json", 0, ""},
    /* Names that are too long or empty. */
    {"/" WORD63 "4.json", 0, ""},
    {"/default/" LAYER69 "4.json", 0, ""},
    {"/" WORD63 "4/relief/1/2/3.png", 0, ""},
    {"/w/" LAYER69 "4/1/2/3.png", 0, ""},
    {"/w/relief/1/2/3." WORD63 "4", 0, ""},
    {"/viewer/" WORD63 "4", 0, ""},
    {"/" WORD63 "4:1.json", 404, "world"},
    {"/:1.json", 404, "world"},
    {"/:1/relief.json", 404, "world"},
    {"/a:1", 404, ""},
    {"/worlds.json:1", 404, ""},
    /* Seeds: 64 bits, in canonical form. */
    {"/w:.json", 400,
     "seed: \"\" is blank; expected a whole number from -2^63 to 2^64-1, or any other text"},
    {"/w: .json", 400, "seed: \" \" is blank"},
    {"/w:/l/1/2/3.png", 400, "seed"},
    {"/w:/height?x=1&y=2", 400, "seed"},
    {"/w:/relief.json", 400, "seed"},
    {"/w:/region.f32?x=0&y=0&width=1&height=1", 400, "seed"},
    /* Numbers in canonical form; the message names them. */
    {"/w/l/-0/2/3.png", 400, "z"},
    {"/w/l/+1/2/3.png", 400, "z"},
    {"/w/l/01/2/3.png", 400, "z"},
    {"/w/l/1e3/2/3.png", 400, "z"},
    {"/w/l/1.0/2/3.png", 400, "z"},
    {"/w/l//2/3.png", 400, ""},
    {"/w/l/-/2/3.png", 400, "z"},
    {"/w/l/{z}/2/3.png", 400, "z"},
    {"/w/l/9223372036854775808/2/3.png", 400, "z"},
    {"/w/l/1/-0/3.png", 400, "x"},
    {"/w/l/1/+2/3.png", 400, "x"},
    {"/w/l/1/00/3.png", 400, "x"},
    {"/w/l/1/ 2/3.png", 400, "x"},
    {"/w/l/1/0x2/3.png", 400, "x"},
    {"/w/l/1/9223372036854775808/3.png", 400, "x"},
    {"/w/l/1/-9223372036854775809/3.png", 400, "x"},
    {"/w/l/1/18446744073709551617/3.png", 400, "x"},
    {"/w/l/1/99999999999999999999999999999999999999999999/3.png", 400, "x"},
    {"/w/l/1/2/-0.png", 400, "y"},
    {"/w/l/1/2/+3.png", 400, "y"},
    {"/w/l/1/2/03.png", 400, "y"},
    {"/w/l/1/2/3e1.png", 400, "y"},
    {"/w/l/1/2/.png", 400, "y"},
    {"/w/l/1/2/-.png", 400, "y"},
    {"/w/l/1/2/--3.png", 400, "y"},
    {"/w/l/1/2/9223372036854775808.png", 400, "y"},
    {"/w/l/1/2/9223372036854775808@2x.png", 400, "y"},
    {"/w/l/1/2/3", 0, ""},
    {"/w/l/1/2/3.", 0, ""},
    /* The scale. */
    {"/w/l/1/2/3@1x.png", 400, ""},
    {"/w/l/1/2/3@3x.png", 400, ""},
    {"/w/l/1/2/3@02x.png", 400, ""},
    {"/w/l/1/2/3@2.png", 400, ""},
    {"/w/l/1/2/3@2X.png", 400, ""},
    {"/w/l/1/2/3@2x@2x.png", 400, ""},
    {"/w/l/1/2/3@.png", 400, ""},
    {"/w/l/1/2/@2x.png", 400, ""},
    {"/w/l/1/2@2x/3.png", 400, "x"},
    /* The border. */
    {"/w/l/1/2/3.png?border=2", 400, "border: \"2\" is not 1, nor 0, which is the default"},
    {"/w/l/1/2/3.png?border=", 400, "border: \"\""},
    {"/w/l/1/2/3.png?border=01", 400, "border: \"01\""},
    {"/w/l/1/2/3.png?border=true", 400, "border: \"true\""},
    {"/w/l/1/2/3.png?border=1&border=1", 400, "border: given twice"},
    {"/w/l/1/2/3+border.png", 400, "y: \"3+border\""},
    /* Percent-encoding that was not decoded: the message names the reason. */
    {"/w%00/l/1/2/3.png", 400, "URL: %00: no name or number has this character"},
    {"/w%3A1%2F.json", 400, "URL: %2F: no"},
    {"/w%253A1.json", 400, "URL: %25: no"},
    {"/w/height?x=1%26y=2", 400, "URL: %26: no"},
    {"/w/height?x=1&y=2&z=%20", 400, "URL: %20: no"},
    {"/w/height?x=1&y=%C3%B6", 400, "URL: %C3: no"},
    {"/%", 400, "URL: %: expected % and two hexadecimal digits, such as %3A"},
    {"/%3A%4", 400, "URL: %4: expected"},
    {"/w/height?x=%zz1", 400, "URL: %zz: expected"},
    {"/w%3A1/height?x=1&y=%", 400, "URL: %: expected"},
    /* Queries. */
    {"/w/height", 400, "x"},
    {"/w/height?", 400, "x"},
    {"/w/height?x=1", 400, "y"},
    {"/w/height?y=1", 400, "x"},
    {"/w/height?x=1&y", 400, "y"},
    {"/w/height?x=1&y=", 400, "y"},
    {"/w/height?x=&y=1", 400, "x"},
    {"/w/height?x=1&x=2&y=1", 400, "x"},
    {"/w/height?x=1&y=1&y=1", 400, "y"},
    {"/w/height?x=1;y=2", 400, ""},
    {"/w/height?x=1&y=2?", 400, "y"},
    {"/w/height?X=1&y=2", 400, "x"},
    {"/w/height?x=1&y=nan", 400, "y"},
    {"/w/height?x=1&y=inf", 400, "y"},
    {"/w/height?x=1&y=0x1", 400, "y"},
    {"/w/height?x=1&y=2#a", 400, "y"},
    {"/w/height?x=1=1&y=2", 400, "x"},
    {"/w/height?x=1e400&y=2", 404, "2^52"},
    {"/w/height?x=1&y=2&z=3", 400, "'z' is not a parameter of height; expected x, y"},
    {"/w/height?x=1&y=2&v=3", 400, "'v' is not a parameter of height; expected x, y"},
    {"/w/heights?att=1,2", 400, "'att' is not a parameter of heights; did you mean 'at'?"},
    {"/w/spawn?x=1&y=2&mim=3", 400, "'mim' is not a parameter of spawn; did you mean 'min'?"},
    {"/w/l/1/2/3.png?v=a&v=b", 400, "v: given twice"},
    {"/w/l/1/2/3.png?boder=1", 400, "'boder' is not a parameter of a tile; did you mean 'border'?"},
    /* Lists of places: the message has the number of the place. */
    {"/w/heights", 400, "at"},
    {"/w/heights?at=", 400, "at: place 1: empty"},
    {"/w/heights?at=1,2;", 400, "at: place 2: empty"},
    {"/w/heights?at=1,2;&fields=a", 400, "at: place 2: empty"},
    {"/w/heights?at=1", 400, "place 1: y"},
    {"/w/heights?at=,1", 400, "place 1: x"},
    {"/w/heights?at=1,2;3", 400, "place 2: y"},
    {"/w/heights?at=1,2;;3,4", 400, "at: place 2: empty"},
    {"/w/heights?at=1,2,3", 400, "place 1: y"},
    {"/w/heights?at=1,2;3,0.3.3", 400, "place 2: y"},
    {"/w/heights?at=1,2;9007199254740993,3", 404, "2^52"},
    {"/w/heights?at=1,2&at=3,4", 400, "at"},
    /* Courses. */
    {"/w/downstream?x=1", 400, "y"},
    {"/w/downstream?x=1&y=0&limit=0", 400, "limit"},
    {"/w/downstream?x=1&y=0&crs=", 400,
     "crs: \"\" is not blocks, which is the default, north or lnglat"},
    {"/w/downstream?x=1&y=0&crs=EPSG:4326", 400, "crs: \"EPSG:4326\" is not blocks"},
    {"/w/downstream?x=1&y=0&crs=North", 400, "crs"},
    {"/w/downstream?x=1&y=0&crs=north&crs=north", 400, "crs: given twice"},
    {"/w/height?x=1&y=0&crs=north", 400, "'crs' is not a parameter of height"},
    {"/w/downstream?x=1&y=0&limit=4001", 413, "limit: 4001 points are too many; at most 4000"},
    {"/w/downstream?x=1&y=0&after=1,2", 400, "after"},
    {"/w/downstream?x=1&y=0&after=1,2,-3", 400, "after"},
    {"/w/downstream?x=1&y=0&after=1,2,3,4", 400, "after"},
    {"/w/downstream?x=1&y=0&after=", 400, "after"},
    {"/w/downstream?x=1&y=0&after=,,", 400, "after"},
    {"/w/downstream?x=1&y=0&after=1,2,", 400, "after"},
    {"/w/downstream?x=1&y=0&after=1,,3", 400, "after"},
    {"/w/downstream?x=1&y=0&after=1,2,3,", 400, "after"},
    {"/w/downstream?x=1&y=0&after=1,2,2147483648", 400, "after"},
    {"/w/downstream?x=1&y=0&aftr=1,2,3", 400, "did you mean 'after'?"},
    /* Spawns. */
    {"/w/spawn?x=1", 400, "y"},
    {"/w/spawn?x=4503599627370497&y=0", 404, "2^52"},
    {"/w/spawn?x=1&y=1&min=", 400, "min"},
    {"/w/spawn?x=1&y=1&max=inf", 400, "max"},
    {"/w/spawn?x=1&y=1&max=nan", 400, "max"},
    {"/w/spawn?x=1&y=1&max=1&max=2", 400, "max"},
    {"/w/spawn?x=1&y=1&min=2&max=1", 400, "min"},
    {"/w/spawn?x=1&y=1&slope=-0.5", 400, "slope"},
    {"/w/spawn?x=1&y=1&slope=-", 400, "slope"},
    {"/w/spawn?x=1&y=1&slope=1111111111111111111111111111111111111111111111", 400, "slope"},
    {"/w/spawn?x=1&y=1&under_water=2", 400, "under_water: \"2\" is not 1, nor 0"},
    {"/w/spawn?x=1&y=1&near_water=0", 400, "near_water: \"0\" is not a whole number from 1 to 256"},
    {"/w/spawn?x=1&y=1&near_water=1.5", 400, "near_water"},
    {"/w/spawn?x=1&y=1&near_water=257", 413, "near_water: 257 blocks are too many; at most 256"},
    {"/w/spawn?x=1&y=1&count=0", 400, "count: \"0\" is not a whole number from 1 to 64"},
    {"/w/spawn?x=1&y=1&count=65", 413, "count: 65 places are too many; at most 64"},
    {"/w/spawn?x=1&y=1&biome=", 400, "biome: expected 1 to 16 names"},
    {"/w/spawn?x=1&y=1&biome=a,", 400, "biome: expected 1 to 16 names"},
    {"/w/spawn?x=1&y=1&biome=,a", 400, "biome: name 1: empty"},
    {"/w/spawn?x=1&y=1&biome=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", 400,
     "biome: expected 1 to 16 names"},
    {"/w/spawn?x=1&y=1&biomes=1", 400, "did you mean 'biome'?"},
    {"/w/spawn?x=1&y=1&near_watr=1", 400, "did you mean 'near_water'?"},
    /* Regions and volumes. */
    {"/w/region?x=1&y=1&width=2&height=2", 404, ""},
    {"/w/region.?x=1&y=1&width=2&height=2", 404, "region"},
    {"/w/region.f32?x=1&y=1&width=2", 400, "height"},
    {"/w/region.f32?x=1&y=1&width=2&height=2&stp=4", 400,
     "'stp' is not a parameter of region; did you mean 'step'?"},
    {"/w/region.f32?x=1&y=1&width=2&height=2&depth=4", 400,
     "'depth' is not a parameter of region; expected x, y, width, height, step, layer, field, "
     "range, v"},
    {"/w/region.f32?x=1&y=1&width=2.5&height=2", 400, "1 to 4097"},
    {"/w/region.f32?x=1&y=1&width=1e4&height=2", 413, "4097"},
    {"/w/volume.f32?x=1&y=1&z=1&width=1&height=1&dept=1", 400, "did you mean 'depth'?"},
    {"/w/region.f32?x=1&y=1&width=0&height=2", 400, "1 to 4097"},
    {"/w/region.f32?x=1&y=1&width=-1&height=2", 400, "1 to 4097"},
    {"/w/region.f32?x=1&y=1&width=2&height=4098", 413, "4097"},
    {"/w/region.f32?x=1&y=1&width=99999999999999999999&height=2", 413, "4097"},
    {"/w/region.f32?x=1&y=1&width=2&height=2&step=3", 400, "step"},
    {"/w/region.f32?x=1&y=1&width=2&height=2&step=0", 400, "power of two"},
    {"/w/region.f32?x=1&y=1&width=2&height=2&step=-1", 400, "power of two"},
    {"/w/region.f32?x=1&y=1&width=2&height=2&step=2097152", 400, "2^20"},
    {"/w/region.f32?x=1&y=1&width=2&height=2&step=0.00048828125", 400, "1/1024"},
    {"/w/region.f32?x=1&y=1&width=2&height=2&step=1&step=1", 400, "step"},
    {"/w/height?x=1&y=1&fields=", 400, "fields: expected 1 to 16 names"},
    {"/w/height?x=1&y=1&field=a", 400,
     "'field' is not a parameter of height; did you mean 'fields'"},
    {"/w/heights?at=1,1&fields=a,,b", 400, "fields: name 2: empty"},
    {"/w/heights?at=1,1&fields=a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", 400, "1 to 16 names"},
    {"/w/region.f32?x=1&y=1&width=2&height=2&field=", 404, "field: expected a name"},
    {"/w/region.f32?x=1&y=1&width=2&height=2&field=" WORD63 "4", 404, "1 to 63 characters"},
    {"/w/region.png?x=1&y=1&width=2&height=2&layer=" LAYER69 "4", 404, "1 to 69 characters"},
    {"/w/region.png?x=1&y=1&width=2&height=2&layer=relief&field=height", 400, "layer: "},
    {"/w/region.png?x=1&y=1&width=2&height=2&layer=gray&range=1,2", 400, "layer: "},
    {"/w/region.f32?x=1&y=1&width=2&height=2&range=1,2", 400, "range: f32"},
    {"/w/region.r16?x=1&y=1&width=2&height=2&range=2,1", 400, "range: \"2,1\" is not A,B with A"},
    {"/w/region.r16?x=1&y=1&width=2&height=2&fields=a", 400, "did you mean 'field'?"},
    {"/w/region.f32?x=4503599627370497&y=1&width=2&height=2", 404, "2^52"},
    {"/w/region.f32?x=4503599627370496&y=1&width=2&height=2", 404, "2^52"},
    {"/w/region.f32?x=0&y=4503599627370493&width=2&height=5", 404, "2^52"},
    {"/w/volume.f32?x=1&y=1&width=2&height=2&depth=2", 400, "z"},
    {"/w/volume.f32?x=1&y=1&z=1&width=257&height=256&depth=256", 413, "2^24"},
    {"/w/volume.f32?x=1&y=1&z=1&width=1&height=1&depth=4098", 413, "4097"},
    {"/w/volume.f32?x=1&y=1&z=4503599627370496&width=1&height=1&depth=2", 404, "z"},
    {"/w/height?x=9007199254740992&y=0", 404, "x"},
    {"/w/height?x=0&y=99999999999999999999", 0, "y"},
};

START_TEST(test_bad)
{
    struct route route;
    char why[ROUTE_WHY + 1];
    unsigned status = parse(&route, bad[_i].uri, why);
    ck_assert_msg(status != 0, "%s: accepted", bad[_i].uri);
    ck_assert_msg(!bad[_i].status || status == bad[_i].status, "%s: %u %s", bad[_i].uri, status,
                  why);
    ck_assert_msg(*why, "%s: %u without a message", bad[_i].uri, status);
    ck_assert_msg(strstr(why, bad[_i].why) != NULL, "%s: no %s in \"%s\"", bad[_i].uri, bad[_i].why,
                  why);
}
END_TEST

/* Requests to WMTS that are refused by exception reports. */
#define REST "&STYLE=&FORMAT=image/png&TILEMATRIXSET=S&TILEMATRIX=4&TILECOL=5&TILEROW=6"
#define BEGIN "/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0"
static const struct {
    const char *uri;
    enum wmts_code code;
    const char *locator, *why;
} faults[] = {
    {"/wmts?SERVICE=WMTS", WMTS_MISSING_PARAMETER_VALUE, "request", "GetCapabilities or GetTile"},
    {"/wmts?a=b", WMTS_MISSING_PARAMETER_VALUE, "request", "missing"},
    {"/wmts.xml?Request=", WMTS_MISSING_PARAMETER_VALUE, "request", "missing"},
    {"/w/wmts.xml?request=GetCapabilities&request=x", WMTS_INVALID_PARAMETER_VALUE, "request",
     "given twice"},
    {"/wmts?REQUEST=GetCapabilities&SERVICE=WFS", WMTS_INVALID_PARAMETER_VALUE, "service",
     "service: \"WFS\" is not WMTS"},
    {"/wmts?request=GetCapabilities&acceptversions=2.0.0", WMTS_VERSION_NEGOTIATION_FAILED,
     "acceptversions", "1.0.0"},
    {"/wmts?request=GetTile", WMTS_MISSING_PARAMETER_VALUE, "service", "expected WMTS"},
    {"/wmts?SERVICE=WMS&REQUEST=GetMap", WMTS_INVALID_PARAMETER_VALUE, "service", "\"WMS\""},
    {"/wmts?SERVICE=WMTS&REQUEST=GetFeatureInfo", WMTS_OPERATION_NOT_SUPPORTED, "GetFeatureInfo",
     "request: \"GetFeatureInfo\" is not GetCapabilities or GetTile"},
    {"/wmts.xml?SERVICE=WMTS&REQUEST=GetTile", WMTS_MISSING_PARAMETER_VALUE, "version", "1.0.0"},
    {"/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.1.0", WMTS_INVALID_PARAMETER_VALUE, "version",
     "\"1.1.0\" is not 1.0.0"},
    {BEGIN REST, WMTS_MISSING_PARAMETER_VALUE, "layer", "such as default:relief"},
    {BEGIN "&LAYER=relief" REST, WMTS_INVALID_PARAMETER_VALUE, "layer",
     "\"relief\" is not a layer"},
    {BEGIN "&LAYER=w:" REST, WMTS_INVALID_PARAMETER_VALUE, "layer", ""},
    {BEGIN "&LAYER=w:%C3%A9:l" REST, WMTS_INVALID_PARAMETER_VALUE, "layer", "by its number"},
    {BEGIN "&LAYER=w:a%00:l" REST, WMTS_INVALID_PARAMETER_VALUE, "layer", "by its number"},
    {BEGIN "&LAYER=:l" REST, WMTS_INVALID_PARAMETER_VALUE, "layer", ""},
    {BEGIN "&LAYER=w::l" REST, WMTS_INVALID_PARAMETER_VALUE, "layer", ""},
    {BEGIN "&LAYER=" WORD63 WORD63 WORD63 WORD63 REST, WMTS_INVALID_PARAMETER_VALUE, "layer",
     "longer than 191"},
    {"/w/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=v:l" REST,
     WMTS_INVALID_PARAMETER_VALUE, "layer", "not one of the world in the path"},
    {"/w:1/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=w:l" REST,
     WMTS_INVALID_PARAMETER_VALUE, "layer", "path"},
    {BEGIN "&LAYER=w:l&FORMAT=image/png", WMTS_MISSING_PARAMETER_VALUE, "style", "default"},
    {BEGIN "&LAYER=w:l&STYLE=x" REST, WMTS_INVALID_PARAMETER_VALUE, "style", "given twice"},
    {BEGIN "&LAYER=w:l&STYLE=x&FORMAT=image/png", WMTS_INVALID_PARAMETER_VALUE, "style",
     "\"x\" is not default"},
    {BEGIN "&LAYER=w:l&STYLE=&FORMAT=image/jpeg", WMTS_INVALID_PARAMETER_VALUE, "format",
     "\"image/jpeg\" is not image/png"},
    {BEGIN "&LAYER=w:l&STYLE=&FORMAT=image/png", WMTS_MISSING_PARAMETER_VALUE, "tilematrixset", ""},
    {BEGIN "&LAYER=w:l&STYLE=&FORMAT=image/png&TILEMATRIXSET=" WORD63 "4&TILEMATRIX=1&TILEROW=1"
           "&TILECOL=1",
     WMTS_INVALID_PARAMETER_VALUE, "tilematrixset", ""},
    {BEGIN "&LAYER=w:l&STYLE=&FORMAT=image/png&TILEMATRIXSET=S&TILEMATRIX=S:4&TILEROW=1&TILECOL=1",
     WMTS_INVALID_PARAMETER_VALUE, "tilematrix", "\"S:4\" is not a whole number"},
    {BEGIN "&LAYER=w:l&STYLE=&FORMAT=image/png&TILEMATRIXSET=S&TILEMATRIX=4&TILEROW=1.5&TILECOL=1",
     WMTS_INVALID_PARAMETER_VALUE, "tilerow", "whole"},
    {BEGIN "&LAYER=w:l&STYLE=&FORMAT=image/png&TILEMATRIXSET=S&TILEMATRIX=4&TILEROW=1&TILECOL=",
     WMTS_MISSING_PARAMETER_VALUE, "tilecol", "a column"},
};

START_TEST(test_faults)
{
    const char *uri = faults[_i].uri;
    struct route route;
    char why[ROUTE_WHY + 1];
    const unsigned status = parse(&route, uri, why);
    must(route.fault.code == faults[_i].code && status == wmts_status(route.fault.code),
         "%s: %u, code %d: %s", uri, status, (int)route.fault.code, why);
    must(strcmp(route.fault.locator, faults[_i].locator) == 0, "%s: %s", uri, route.fault.locator);
    must(strstr(why, faults[_i].why) != NULL, "%s: no %s in \"%s\"", uri, faults[_i].why, why);
}
END_TEST

static bool is_text(const char word[ROUTE_WORD])
{
    return memchr(word, 0, ROUTE_WORD) != NULL;
}

enum { WORLD_TEXT = 512 };

/* {world} as in URI, which it must be: a seed may be written in several ways. */
static void world_text(const char *uri, const struct route *route, char out[WORLD_TEXT])
{
    const size_t length = strlen(route->world);
    uint64_t seed;
    snprintf(out, WORLD_TEXT, "%s", route->world);
    if (!route->seeded)
        return;
    const char *text = uri + 1 + length + 1;
    const size_t rest = strcspn(text, "/?");
    const bool is_file = text[rest] != '/' && rest >= 5;
    must(strncmp(uri + 1, route->world, length) == 0 && text[-1] == ':', "%s: another world", uri);
    must(seed_parse(text, rest - (is_file ? 5 : 0), &seed) == 0 && seed == route->seed,
         "%s: another seed", uri);
    snprintf(out + length, WORLD_TEXT - length, ":%.*s", (int)rest - (is_file ? 5 : 0), text);
}

/* A route holds bounded, printable names, and a tile has one URL only. */
static bool is_layer(const char layer[ROUTE_LAYER])
{
    return memchr(layer, 0, ROUTE_LAYER);
}

static void must_be_sound(const struct route *route, const char *uri)
{
    char again[2 * WORLD_TEXT] = "", world[WORLD_TEXT];
    if (route->kind != ROUTE_WMTS_TILE) /* its world is in the query */
        world_text(uri, route, world);
    must(route->kind <= ROUTE_METRICS, "%s: kind %d", uri, (int)route->kind);
    switch (route->kind) {
    case ROUTE_TILE:
        must(is_text(route->world) && is_layer(route->layer) && is_text(route->extension) &&
                 is_text(route->version),
             "%s: endless", uri);
        must(route->scale == 1 || route->scale == 2, "%s: scale %d", uri, route->scale);
        snprintf(again, sizeof again, "/%s/%s/%" PRId64 "/%" PRId64 "/%" PRId64 "%s.%s", world,
                 route->layer, route->z, route->x, route->y, route->scale == 2 ? "@2x" : "",
                 route->extension);
        break;
    case ROUTE_TILEJSON:
        must(is_text(route->world) && is_layer(route->layer), "%s: endless", uri);
        snprintf(again, sizeof again, "/%s/%s.json", world, route->layer);
        break;
    case ROUTE_GDAL:
        must(is_text(route->world) && is_layer(route->layer), "%s: endless", uri);
        snprintf(again, sizeof again, "/%s/%s.xml", world, route->layer);
        break;
    case ROUTE_WMTS:
        must(is_text(route->world), "%s: endless", uri);
        snprintf(again, sizeof again, "%s%s/wmts%s", *world ? "/" : "", world,
                 strncmp(uri + 1 + strlen(world) + (*world != 0), "wmts.xml", 8) == 0 ? ".xml"
                                                                                      : "");
        break;
    case ROUTE_WMTS_TILE:
        must(is_text(route->world) && is_layer(route->layer) && is_text(route->set), "%s: endless",
             uri);
        must(route->scale == 1 && strcmp(route->extension, "png") == 0, "%s: a tile", uri);
        snprintf(again, sizeof again, "%.*s", (int)strcspn(uri, "?"), uri);
        must(strstr(again, "/wmts") != NULL, "%s: a tile of WMTS", uri);
        break;
    case ROUTE_WORLD:
        must(is_text(route->world), "%s: endless", uri);
        snprintf(again, sizeof again, "/%s.json", world);
        break;
    case ROUTE_HEIGHT:
    case ROUTE_HEIGHTS:
    case ROUTE_SPAWN:
    case ROUTE_DOWNSTREAM:
        must(is_text(route->world), "%s: endless", uri);
        snprintf(again, sizeof again, "/%s/%s", world,
                 route->kind == ROUTE_HEIGHT    ? "height"
                 : route->kind == ROUTE_HEIGHTS ? "heights"
                 : route->kind == ROUTE_SPAWN   ? "spawn"
                                                : "downstream");
        break;
    case ROUTE_REGION:
    case ROUTE_VOLUME:
        must(is_text(route->world) && is_text(route->extension), "%s: endless", uri);
        snprintf(again, sizeof again, "/%s/%s.%s", world,
                 route->kind == ROUTE_REGION ? "region" : "volume", route->extension);
        break;
    case ROUTE_ASSET:
        must(is_layer(route->layer), "%s: endless", uri);
        must(!strchr(route->layer, '/') && strcmp(route->layer, "..") != 0, "%s: %s", uri,
             route->layer);
        snprintf(again, sizeof again, "%s/%s", strncmp(uri, "/viewer/", 8) == 0 ? "/viewer" : "",
                 route->layer);
        must(again[1] == 'v' || !strcmp(again, "/robots.txt") || !strcmp(again, "/favicon.ico") ||
                 !strcmp(again, "/apple-touch-icon.png"),
             "%s is a file", uri);
        break;
    case ROUTE_VIEWER:
        strcpy(again, "/");
        break;
    case ROUTE_WORLDS:
        strcpy(again, "/worlds.json");
        break;
    case ROUTE_HEALTH:
        strcpy(again, "/healthz");
        break;
    case ROUTE_READY:
        strcpy(again, "/readyz");
        break;
    case ROUTE_METRICS:
        strcpy(again, "/metrics");
        break;
    }
    size_t length = strlen(again);
    must(strncmp(uri, again, length) == 0 && (uri[length] == 0 || uri[length] == '?'),
         "%s is %s too", uri, again);
}

/* WHY repeats parts of URI, and adds only printable text. */
static void must_be_text(const char *why, const char *uri)
{
    for (const char *c = uri; *c; c++)
        if (*c < ' ' || *c > '~')
            return;
    must(*why, "%s: no word", uri);
    for (const char *c = why; *c; c++)
        must(*c >= ' ' && *c <= '~', "byte %02x for %s", (unsigned char)*c, uri);
}

START_TEST(test_random_bytes)
{
    uint64_t state = 4;
    for (int i = 0; i < 60000; i++) {
        struct route route;
        char uri[300], why[ROUTE_WHY + 1];
        int length = chance_below(&state, i % 8 ? 24 : 299);
        for (int j = 0; j < length; j++)
            uri[j] = (char)(1 + chance_below(&state, 255));
        uri[length] = 0;
        if (i & 1)
            uri[0] = '/';
        if (parse(&route, uri, why) == 0)
            must_be_sound(&route, uri);
        else
            must_be_text(why, uri);
    }
}
END_TEST

static const char *const pieces[] = {
    "/",
    "?",
    "&",
    "=",
    "@2x",
    ".png",
    ".json",
    "wmts",
    ".xml",
    "request",
    "REQUEST",
    "GetCapabilities",
    "wmts?" TILE_OF("w:l"),
    "service",
    "viewer",
    "height",
    "worlds",
    "-",
    "0",
    "1",
    "-1",
    "x=",
    "y=",
    "v=",
    "..",
    "%",
    "%2f",
    ":",
    "default",
    MOST,
    LEAST,
    WORD63,
    ".f32",
    "\xff",
    " ",
    "@",
    "+",
    "x=1&",
    "relief",
    ".",
    ":1",
    ":18446744073709551615",
    "0.5",
    "//",
    "\x01",
    "\"",
    "\\",
    "1e9",
    "~",
    "#",
    ";",
    "heights",
    "999",
};

/* Valid URLs with pieces inserted or removed, and bytes changed. */
START_TEST(test_mutated)
{
    uint64_t state = 5;
    int accepted = 0;
    for (int i = 0; i < 150000; i++) {
        struct route route;
        char uri[1024], why[ROUTE_WHY + 1];
        strcpy(uri, good[chance_below(&state, ROWS(good))].uri);
        for (int changes = chance_below(&state, 4); changes >= 0; changes--) {
            int length = (int)strlen(uri), at = chance_below(&state, length + 1);
            const char *piece = pieces[chance_below(&state, ROWS(pieces))];
            int size = (int)strlen(piece);
            switch (chance_below(&state, 4)) {
            case 0: /* insert */
                memmove(uri + at + size, uri + at, (size_t)(length - at + 1));
                memcpy(uri + at, piece, (size_t)size);
                break;
            case 1: /* remove */
                size = chance_below(&state, length - at + 1);
                memmove(uri + at, uri + at + size, (size_t)(length - at - size + 1));
                break;
            case 2: /* change */
                if (at < length)
                    uri[at] = (char)(1 + chance_below(&state, 255));
                break;
            default: /* repeat the rest */
                if (length < 200)
                    memmove(uri + length, uri + at, (size_t)(length - at));
                uri[length < 200 ? 2 * length - at : length] = 0;
            }
        }
        if (parse(&route, uri, why) == 0) {
            must_be_sound(&route, uri);
            accepted++;
        } else {
            must_be_text(why, uri);
        }
    }
    ck_assert_int_gt(accepted, 1000);
}
END_TEST

/* Random numbers of either sign, in each place. */
START_TEST(test_numbers)
{
    uint64_t state = 6;
    for (int i = 0; i < 20000; i++) {
        struct route route;
        char uri[256], why[ROUTE_WHY + 1];
        int64_t n[3];
        for (int j = 0; j < 3; j++)
            n[j] = (int64_t)chance(&state) >> chance_below(&state, 64);
        snprintf(uri, sizeof uri, "/w/l/%" PRId64 "/%" PRId64 "/%" PRId64 ".png", n[0], n[1], n[2]);
        must(parse(&route, uri, why) == 0, "%s: %s", uri, why);
        must(route.z == n[0] && route.x == n[1] && route.y == n[2], "%s", uri);
    }
}
END_TEST

START_TEST(test_long)
{
    struct route route;
    char why[ROUTE_WHY + 1];
    for (int i = 0; i < ROWS(pieces); i++) {
        static char uri[32768];
        size_t length = 0, size = strlen(pieces[i]);
        for (uri[length++] = '/'; length + size < sizeof uri - 1; length += size)
            memcpy(uri + length, pieces[i], size);
        uri[length] = 0;
        if (parse(&route, uri, why) == 0)
            must_be_sound(&route, uri);
        else
            must_be_text(why, uri);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("route");
    TCase *tcase = suite_case(suite, "URLs");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_good, 0, ROWS(good));
    tcase_add_test(tcase, test_all_kinds);
    tcase_add_loop_test(tcase, test_faults, 0, ROWS(faults));
    tcase_add_loop_test(tcase, test_bad, 0, ROWS(bad));
    tcase_add_test(tcase, test_numbers);
    tcase_add_test(tcase, test_random_bytes);
    tcase_add_test(tcase, test_mutated);
    tcase_add_test(tcase, test_long);
    return suite_run(suite);
}
