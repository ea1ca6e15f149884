#include "viewer_page.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "server/layers/layer.h"
#include "server/routing/resolve.h"
#include "server/viewer/embedded_files.h"
#include "server/world/worlds.h"

/* viewer/index.html has the picture's size, too: one piece of a region (RENDER_PIECE_MAX), in the
 * proportions that previews have. */
#define TITLE "{title}"
#define PICTURE "{picture}"
enum { WIDTH = 640, HEIGHT = 336 };

/* The picture has fewer pixels than the viewer, so each pixel shows twice as much. */
enum { COARSER = 1 };

enum { BASE_MAX = 1032, PLACE_MAX = 512, TITLE_MAX = 256 };

struct view {
    const struct world *world;
    char name[ROUTE_WORD + 21]; /* the world's, with the seed */
    bool seeded;
    int layer, field;
    double zoom;
    int64_t x, y; /* units */
    bool placed;  /* the view names X and Y */
};

struct text_template *viewer_page_new(void)
{
    static const char *const gaps[TEXT_TEMPLATE_VALUES] = {TITLE, PICTURE};
    const struct embedded_file *file = embedded_files;

    while (strcmp(file->name, "index.html") != 0)
        file++;
    struct blob *example = blob_copy(file->bytes, (size_t)*file->length);
    struct text_template *page = example ? text_template_new(example, gaps) : NULL;
    blob_release(example);
    return page;
}

/* --- The view --- */

static int hex(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* QUERY's "place", decoded, or "". Routing does not decode a URL with an encoded slash, which some
 * programs write. */
static void find_place(const char *query, char out[PLACE_MAX])
{
    static const char key[] = "place=";
    char *end = out + (PLACE_MAX - 1);

    while (strncmp(query, key, sizeof key - 1) != 0) {
        query += strcspn(query, "&");
        if (!*query)
            break;
        query++;
    }
    query += *query ? sizeof key - 1 : 0;
    for (; *query && *query != '&' && out < end; query++) {
        const bool escape = query[0] == '%' && isxdigit((unsigned char)query[1]) &&
                            isxdigit((unsigned char)query[2]);
        *out++ = escape ? (char)(hex(query[1]) << 4 | hex(query[2])) : *query;
        query += escape ? 2 : 0;
    }
    *out = '\0';
}

/* The layer that the viewer shows first. */
static int first_layer(const struct world *world)
{
    int layer = layer_find("relief");
    for (int i = 0; !world_lists(world, layer) && layers[i].name; i++)
        if (world_lists(world, i))
            layer = i;
    return layer;
}

/* Take the world and the layer off PLACE. Returns false if there are none such. */
static bool take_world(struct view *view, const struct worlds *worlds, struct span *place)
{
    const struct span world = span_take(place, '/'), layer = span_take(place, '/');
    const bool layered = layer.length > 0 && layer.length < ROUTE_LAYER;
    char uri[3 * ROUTE_WORD], why[ROUTE_WHY];
    struct route route;

    if (world.length >= sizeof view->name)
        return false;
    snprintf(uri, sizeof uri, "/%.*s/%.*s.json", (int)world.length, world.text,
             layered ? (int)layer.length : 1, layered ? layer.text : "x");
    if (route_parse(&route, uri, why) || route.kind != ROUTE_TILEJSON)
        return false;
    const struct world *found = resolve_world(worlds, &route, why);
    if (!found)
        return false;
    view->world = found;
    view->seeded = route.seeded;
    snprintf(view->name, sizeof view->name, "%.*s", (int)world.length, world.text);
    const int known = resolve_layer(found, &route, &view->field, why);
    view->layer = known < 0 ? first_layer(found) : known;
    return true;
}

/* Take the zoom and the coordinates off PLACE, or none of them. */
static void take_place(struct view *view, struct span place)
{
    const struct span zoom = span_take(&place, '/'), x = span_take(&place, '/');
    const struct span y = span_take(&place, '/');
    char text[32];

    snprintf(text, sizeof text, "%.*s", zoom.length < sizeof text ? (int)zoom.length : 0,
             zoom.length ? zoom.text : "");
    char *end;
    const double number = strtod(text, &end);
    int64_t at[2];
    if (end == text || *end || !isfinite(number) || blocks_parse(x.text, x.length, &at[0]) ||
        blocks_parse(y.text, y.length, &at[1]) || llabs(at[0]) > FARLANDS_LIMIT ||
        llabs(at[1]) > FARLANDS_LIMIT)
        return;
    view->zoom = number;
    view->x = at[0];
    view->y = at[1];
    view->placed = true;
}

static void find_view(struct view *view, const struct worlds *worlds, const char *query)
{
    char text[PLACE_MAX];

    find_place(query, text);
    struct span place = {text, strlen(text)};
    *view = (struct view){.world = worlds->world};
    snprintf(view->name, sizeof view->name, "%s", worlds->world->name);
    view->layer = first_layer(worlds->world);
    const bool found = take_world(view, worlds, &place);
    view->zoom = world_first_zoom(view->world);
    if (found)
        take_place(view, place);
}

/* --- The title and the picture --- */

static void write_title(char out[TITLE_MAX], const struct view *view)
{
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT];

    if (view->placed)
        snprintf(out, TITLE_MAX, "Farlands: %s at %s, %s", view->name, blocks_format(view->x, x),
                 blocks_format(view->y, y));
    else
        snprintf(out, TITLE_MAX, "Farlands: %s", view->name);
}

/* The first of COUNT samples around MIDDLE, within the limit and on a multiple of STEP, so that a
 * view that moves by less than a sample has the same picture. */
static int64_t first_sample(int64_t middle, int count, int64_t step)
{
    const int64_t most = FARLANDS_LIMIT - step * count;
    const int64_t first = middle / step * step - count / 2 * step;
    return first < -FARLANDS_LIMIT ? -FARLANDS_LIMIT : first > most ? most : first;
}

enum { PICTURE_MAX = BASE_MAX + 512 };

static void write_picture(char out[PICTURE_MAX], const struct view *view, const char *base)
{
    const int native = view->world->config->native_zoom;
    const double bits = FARLANDS_UNIT_BITS + native - round(view->zoom) + COARSER;
    /* Regions of numbers are exact at any distance, which shows less in a picture far out. Other
     * pictures show as much as the viewer: what is farther out is grain without shapes. */
    const int least = layer_has_numbers(view->layer) ? world_exact_zoom(view->world)
                                                     : world_overview_zoom(view->world) - COARSER;
    const int most = FARLANDS_UNIT_BITS + native - least;
    const int64_t step = INT64_C(1) << (int)fmin(fmax(bits, 0), fmin(most, QUERY_STEP_MAX_BITS));
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT], blocks[BLOCKS_TEXT], layer[LAYER_NAME_MAX];

    /* Another seed's fingerprint would cost more than the page. */
    snprintf(
        out, PICTURE_MAX,
        "%s/%s/region.png?x=%s&amp;y=%s&amp;width=%d&amp;height=%d&amp;step=%s&amp;layer=%s%s%s",
        base[0] ? base : ".", view->name, blocks_format(first_sample(view->x, WIDTH, step), x),
        blocks_format(first_sample(view->y, HEIGHT, step), y), WIDTH, HEIGHT,
        blocks_format(step, blocks), layer_name(view->world, view->layer, view->field, layer),
        view->seeded ? "" : "&amp;v=",
        view->seeded ? "" : world_region_fingerprint(view->world, view->layer, view->field));
}

struct blob *viewer_page_fill(const struct text_template *page, const struct worlds *worlds,
                              const char *query, const char *base)
{
    char title[TITLE_MAX], picture[PICTURE_MAX];
    struct view view;

    /* No quoting needed: names, numbers and hosts have no characters that HTML knows. */
    find_view(&view, worlds, query);
    write_title(title, &view);
    write_picture(picture, &view, base);
    const char *const values[TEXT_TEMPLATE_VALUES] = {title, picture};
    return text_template_fill(page, values);
}
