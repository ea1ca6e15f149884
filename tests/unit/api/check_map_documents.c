/* XML for map clients: well-formed, with the extent, zooms and pixels of each world. */
#include "server/api/map_documents.h"

#include <math.h>

#include "server/core/span.h"
#include "server/layers/layer.h"
#include "tests/unit/support/fixtures.h"

static struct worlds *worlds;

static void set_up(void)
{
    static const char yaml[] = "worlds:\n"
                               "  - name: first\n"
                               "  - name: broad\n"
                               "    native_zoom: 32\n"
                               "    origin: [-0.5, 2251799813685248]\n"
                               "    layers: [normal, height]\n"
                               "  - name: narrow\n"
                               "    native_zoom: 0\n"
                               "    layers: [terrarium]\n"
                               "  - name: wide\n"
                               "    native_zoom: 20\n"
                               "    origin: [0, 0.25]\n"
                               "    layers: [relief]\n";
    worlds = worlds_of_text(yaml);
}

static void tear_down(void)
{
    worlds_release(worlds);
}

/* BLOB as text, which the caller frees. Releases it. */
static char *text_of(struct blob *blob)
{
    must(blob && blob->references == 1, "no document");
    must(!memchr(blob->bytes, 0, blob->length), "a 0 in the document");
    char *text = strndup((const char *)blob->bytes, blob->length);
    blob_release(blob);
    return text;
}

/* Elements are closed in order, and nothing else in TEXT could be taken for markup. */
static void must_be_well_formed(const char *text)
{
    struct span open[16];
    int depth = 0;

    if (strncmp(text, "<?xml ", 6) == 0)
        text = strstr(text, "?>") + 2;
    for (const char *at = text; (at = strpbrk(at, "<>&"));) {
        const char *end = *at == '<' ? strpbrk(at + 1, "<>&") : NULL;
        must(end && *end == '>', "markup: %.60s", at);
        const bool closes = at[1] == '/';
        const char *name = at + 1 + closes;
        const struct span span = {name, strcspn(name, " />")};
        if (closes) {
            must(depth > 0 && span.length == open[depth - 1].length &&
                     memcmp(span.text, open[depth - 1].text, span.length) == 0,
                 "closed: %.60s", at);
            depth--;
        } else if (end[-1] != '/') {
            must(depth < ROWS(open), "too deep: %.60s", at);
            open[depth++] = span;
        }
        at = end + 1;
    }
    must(depth == 0, "%d elements are open", depth);
}

/* The text of the first element NAME in TEXT. Returns BUFFER. */
static char *element(const char *text, const char *name, char buffer[256])
{
    char tag[64];
    snprintf(tag, sizeof tag, "<%s>", name);
    const char *at = strstr(text, tag);
    must(at != NULL, "no %s", tag);
    at += strlen(tag);
    snprintf(buffer, 256, "%.*s", (int)strcspn(at, "<"), at);
    return buffer;
}

static int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* Decode the only entity in TEXT, in place. */
static void unescape(char *text)
{
    for (char *at = text; (at = strstr(at, "&lt;")); at++) {
        *at = '<';
        memmove(at + 1, at + 4, strlen(at + 4) + 1);
    }
}

/* By the index of the world: a layer, and its description. A pixel is a block, if they are few
 * enough; y is the block's with the sign changed. */
static const struct {
    const char *layer, *bands, *type, *level, *left, *top, *right, *bottom;
} gdal[] = {
    {"relief", "3", "Byte", "16", "-8388608", "8388608", "8388608", "-8388608"},
    {"height", "1", "UInt16", "22", "-0.5", "-2251799813685248", "1099511627775.5",
     "-2252899325313024"},
    {"terrarium", "3", "Byte", "0", "-8388608", "8388608", "-8388352", "8388352"},
    {"relief", "3", "Byte", "20", "0", "-0.25", "268435456", "-268435456.25"},
    {"hillshade", "1", "Byte", "16", "-8388608", "8388608", "8388608", "-8388608"},
    {"normal", "3", "Byte", "16", "-8388608", "8388608", "8388608", "-8388608"},
    {"slope", "3", "Byte", "16", "-8388608", "8388608", "8388608", "-8388608"},
    {"aspect", "3", "Byte", "16", "-8388608", "8388608", "8388608", "-8388608"},
};

/* 0 and 65535 are the ends of the range; the broad world has 2^10 blocks per pixel. */
START_TEST(test_gdal_heights)
{
    const struct world *world = &worlds->world[_i];
    const float min = world->colors->min, max = world->colors->max;
    char *text = text_of(document_gdal(world, layer_find("height"), 0, "http://a.b")), value[256];

    ck_assert_double_eq(strtod(element(text, "Offset", value), NULL), (double)min);
    ck_assert_double_eq_tol(65535 * strtod(element(text, "Scale", value), NULL),
                            (double)max - (double)min, 1e-9);
    ck_assert_str_eq(element(text, "UnitType", value), "m");
    ck_assert_str_eq(element(text, "GeoTransform", value),
                     _i == 0 ? "-8388608, 1, 0, 8388608, 0, -1"
                             : "-0.5, 1024, 0, -2251799813685248, 0, -1024");
    const char *size = _i == 0 ? "rasterXSize=\"16777216\" rasterYSize=\"16777216\""
                               : "rasterXSize=\"1073741824\" rasterYSize=\"1073741824\"";
    ck_assert_ptr_nonnull(strstr(text, size));
    free(text);
}
END_TEST

START_TEST(test_gdal)
{
    const struct world *world = &worlds->world[_i < worlds->count ? _i : 0];
    const char *const rows[][2] = {{"BandsCount", gdal[_i].bands},  {"DataType", gdal[_i].type},
                                   {"TileLevel", gdal[_i].level},   {"UpperLeftX", gdal[_i].left},
                                   {"UpperLeftY", gdal[_i].top},    {"LowerRightX", gdal[_i].right},
                                   {"LowerRightY", gdal[_i].bottom}};
    char *text =
        text_of(document_gdal(world, layer_find(gdal[_i].layer), 0, "https://[::1]:8443/t"));
    char value[256], url[256];

    /* As GDAL recognizes it. Heights are in a VRT, which has the other file as text. */
    const bool heights = strcmp(gdal[_i].layer, "height") == 0;
    ck_assert_int_eq(strncmp(text, heights ? "<VRTDataset " : "<GDAL_WMS>", 10), 0);
    ck_assert_ptr_null(strstr(strstr(text, "GDAL_WMS>"), heights ? "  <Service" : "&"));
    unescape(text);
    must_be_well_formed(text);
    for (int i = 0; i < ROWS(rows); i++)
        must(strcmp(element(text, rows[i][0], value), rows[i][1]) == 0, "%s: %s is %s",
             gdal[_i].layer, rows[i][0], value);
    snprintf(url, sizeof url, "https://[::1]:8443/t/%s/%s/${z}/${x}/${y}.png?v=%s", world->name,
             gdal[_i].layer, world->fingerprints.tile[layer_find(gdal[_i].layer)]);
    ck_assert_str_eq(element(text, "ServerUrl", value), url);
    free(text);
}
END_TEST

/* The zooms of the first set of tile matrices in TEXT: from the standard's scale on, halved each.
 */
static void must_halve(const char *text, int zooms)
{
    char value[256];
    text = strstr(text, "<TileMatrixSet>\n");
    for (int z = 0; z < zooms; z++) {
        text = strstr(text, "<TileMatrix>") + 1;
        ck_assert_int_eq(atoi(element(text, "ows:Identifier", value)), z);
        const double scale = strtod(element(text, "ScaleDenominator", value), NULL);
        must(fabs(ldexp(scale, z) / 559082264.0287178 - 1) < 1e-15, "zoom %d: 1:%s", z, value);
        ck_assert_str_eq(element(text, "TopLeftCorner", value),
                         "-20037508.342789244 20037508.342789244");
        ck_assert_int_eq(atoi(element(text, "MatrixWidth", value)), 1 << z);
    }
    const char *end = strstr(text, "</TileMatrixSet>"), *next = strstr(text, "<TileMatrix>");
    must(end && (!next || next > end), "more than %d zooms", zooms);
}

START_TEST(test_wmts)
{
    const int layer_counts[] = {plain_layers(), 2, 1, 1};
    static const int zooms[] = {26, 26, 11, 26};
    const struct world *world = &worlds->world[_i];
    char *text = text_of(document_wmts(world, 1, "here", "http://a.b"));
    char url[256];

    must_be_well_formed(text);
    ck_assert_int_eq(occurrences(text, "<Layer>"), layer_counts[_i]);
    ck_assert_int_eq(occurrences(text, "<TileMatrix>"), zooms[_i]);
    ck_assert_int_eq(occurrences(text, "\"http://a.b/here.xml\""), 2);
    ck_assert_int_eq(occurrences(text, "\"http://a.b/here?\""), 2);
    must_halve(text, zooms[_i]);
    for (int i = 0; layers[i].name; i++) {
        snprintf(url, sizeof url,
                 "template=\"http://a.b/%s/%s/{TileMatrix}/{TileCol}/{TileRow}.png?v=%s\"",
                 world->name, layers[i].name, world->fingerprints.tile[i]);
        ck_assert_int_eq(occurrences(text, url), world_lists(world, i));
    }
    free(text);
}
END_TEST

/* Worlds with the same zooms share a set of tile matrices. */
START_TEST(test_wmts_of_all)
{
    char *text = text_of(document_wmts(worlds->world, worlds->count, "wmts", "http://a.b"));
    must_be_well_formed(text);
    ck_assert_int_eq(occurrences(text, "<Layer>"), plain_layers() + 4);
    ck_assert_int_eq(occurrences(text, "<TileMatrixSet>\n"), 2);
    ck_assert_int_eq(occurrences(text, "<TileMatrixSet>GoogleMapsCompatible_Level10<"), 1);
    ck_assert_int_eq(occurrences(text, "<TileMatrixSet>GoogleMapsCompatible_Level25<"),
                     plain_layers() + 3);
    ck_assert_int_eq(occurrences(text, "<TileMatrix>"), 11 + 26);
    free(text);
}
END_TEST

/* Whatever a request has: the report is XML. */
START_TEST(test_exception)
{
    char *text =
        text_of(document_wmts_exception("InvalidParameterValue", "a\"<\xff", "b&\n'>: no <c>"));
    must(strstr(text, "exceptionCode=\"InvalidParameterValue\" locator=\"a&#34;&#60;?\">") &&
             strstr(text, "<ows:ExceptionText>b&#38;?'&#62;: no &#60;c&#62;</ows:ExceptionText>"),
         "%s", text);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("map documents");
    TCase *tcase = suite_case(suite, "documents");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_gdal, 0, ROWS(gdal));
    tcase_add_loop_test(tcase, test_gdal_heights, 0, 2);
    tcase_add_loop_test(tcase, test_wmts, 0, 4);
    tcase_add_test(tcase, test_wmts_of_all);
    tcase_add_test(tcase, test_exception);
    return suite_run(suite);
}
