#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/exact_numbers.h"
#include "server/core/span.h"

/* TEXT is what is wrong with an option, and shown as it is. */
__attribute__((format(printf, 2, 3))) static int refuse(char why[RENDER_WHY], const char *format,
                                                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, RENDER_WHY, format, arguments);
    va_end(arguments);
    return -EINVAL;
}

/* --- Which go together --------------------------------------------------------- */

static int check_source(const struct command_line *line, char why[RENDER_WHY])
{
    static const struct {
        enum command_option option;
        const char *name;
        bool needed;
    } of_box[] = {
        {COMMAND_OPTION_WORLD, "--world", true},  {COMMAND_OPTION_LAYER, "--layer", true},
        {COMMAND_OPTION_ZOOM, "--zoom", true},    {COMMAND_OPTION_BBOX, "--bbox", false},
        {COMMAND_OPTION_SCALE, "--scale", false},
    };
    const bool listed = line->option[COMMAND_OPTION_TILES] != NULL;

    for (size_t i = 0; i < sizeof of_box / sizeof of_box[0]; i++) {
        const bool given = line->option[of_box[i].option] != NULL;
        if (listed && given)
            return refuse(why, "--tiles does not go with %s: a path says all of it",
                          of_box[i].name);
        if (!listed && of_box[i].needed && !given)
            return refuse(why,
                          "%s is missing: render needs --world, --layer and --zoom, or "
                          "--tiles",
                          of_box[i].name);
    }
    return 0;
}

static int parse_mode(struct render_options *request, const struct command_line *line,
                      char why[RENDER_WHY])
{
    static const struct {
        enum command_option option;
        const char *name;
        enum render_mode mode;
    } modes[] = {
        {COMMAND_OPTION_DRY_RUN, "--dry-run", MODE_DRY_RUN},
        {COMMAND_OPTION_LIST, "--list", MODE_LIST},
        {COMMAND_OPTION_EXPORT, "--export", MODE_EXPORT},
    };
    const char *first = NULL;

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (!line->option[modes[i].option])
            continue;
        if (first)
            return refuse(why, "%s does not go with %s", first, modes[i].name);
        first = modes[i].name;
        request->mode = modes[i].mode;
    }
    request->archive = line->option[COMMAND_OPTION_EXPORT];
    if (request->archive && !request->archive[0])
        return refuse(why, "--export: accepted is the name of a file, such as world.mbtiles");
    return 0;
}

/* --- Values -------------------------------------------------------------------- */

static bool parse_zoom(struct span text, int *out)
{
    int64_t zoom;
    if (integer_parse(text.text, text.length, &zoom) || zoom < INT16_MIN || zoom > INT16_MAX)
        return false;
    *out = (int)zoom;
    return true;
}

/* A, or A-B, either of which may begin with a minus itself. */
static int parse_zooms(struct tile_box *box, const char *text, char why[RENDER_WHY])
{
    const char *dash = text[0] ? strchr(text + 1, '-') : NULL;
    const size_t length = dash ? (size_t)(dash - text) : strlen(text);
    const struct span least = {text, length};
    const struct span most = dash ? (struct span){dash + 1, strlen(dash + 1)} : least;

    if (parse_zoom(least, &box->zoom_min) && parse_zoom(most, &box->zoom_max))
        return 0;
    return refuse(why, "--zoom: \"%.40s\"; accepted is one zoom, or A-B, such as 8, 0-12 or -3--1",
                  text);
}

static int parse_box(struct tile_box *box, const char *text, char why[RENDER_WHY])
{
    struct span rest = {text, strlen(text)};
    int64_t *const places[] = {&box->least[0], &box->least[1], &box->beyond[0], &box->beyond[1]};
    int count = 0;

    for (; count < 4 && rest.length > 0; count++) {
        const struct span place = span_take(&rest, ',');
        const int err = blocks_parse(place.text, place.length, places[count]);
        if (err == -ERANGE ||
            (!err && (*places[count] < -FARLANDS_LIMIT || *places[count] > FARLANDS_LIMIT)))
            return refuse(why, "--bbox: %.*s is beyond the limit of 2^52 blocks", span_shown(place),
                          place.text);
        if (err)
            break;
    }
    if (count == 4 && rest.length == 0 && text[strlen(text) - 1] != ',')
        return 0;
    return refuse(why,
                  "--bbox: \"%.80s\"; accepted is x0,y0,x1,y1: four decimal blocks in steps of "
                  "1/1024, such as -4096,0,4096,8192.5",
                  text);
}

static int parse_shard(struct render_options *request, const char *text, char why[RENDER_WHY])
{
    struct span of = {text, strlen(text)};
    const struct span shard = span_take(&of, '/');

    if (unsigned_parse(shard.text, shard.length, &request->shard) == 0 &&
        unsigned_parse(of.text, of.length, &request->of) == 0 && request->of >= 1 &&
        request->of <= RENDER_SHARDS_MAX && request->shard < request->of)
        return 0;
    return refuse(why, "--shard: \"%.40s\"; accepted is I/N, with I from 0 to N - 1 and N up to %d",
                  text, RENDER_SHARDS_MAX);
}

static int parse_count(const char *name, const char *text, uint64_t most, unsigned *out,
                       char why[RENDER_WHY])
{
    uint64_t count;
    if (unsigned_parse(text, strlen(text), &count) || count < 1 || count > most)
        return refuse(why, "%s: \"%.40s\"; accepted is a whole number from 1 to %llu", name, text,
                      (unsigned long long)most);
    *out = (unsigned)count;
    return 0;
}

int render_options_parse(struct render_options *out, const struct command_line *line,
                         char why[RENDER_WHY])
{
    const char *const *option = line->option;
    unsigned scale = 1;

    *out = (struct render_options){.tiles = option[COMMAND_OPTION_TILES], .of = 1};
    int err = check_source(line, why);
    if (!err)
        err = parse_mode(out, line, why);
    if (!err && option[COMMAND_OPTION_ZOOM])
        err = parse_zooms(&out->box, option[COMMAND_OPTION_ZOOM], why);
    out->box.whole = !option[COMMAND_OPTION_BBOX];
    if (!err && option[COMMAND_OPTION_BBOX])
        err = parse_box(&out->box, option[COMMAND_OPTION_BBOX], why);
    if (!err && option[COMMAND_OPTION_SCALE])
        err = parse_count("--scale", option[COMMAND_OPTION_SCALE], 2, &scale, why);
    out->box.scale = (int)scale;
    if (!err && option[COMMAND_OPTION_SHARD])
        err = parse_shard(out, option[COMMAND_OPTION_SHARD], why);
    if (!err && option[COMMAND_OPTION_THREADS])
        err = parse_count("--threads", option[COMMAND_OPTION_THREADS], RENDER_THREADS_MAX,
                          &out->threads, why);
    return err;
}

/* The layers that WORLD serves, as text. */
static const char *served(const struct world *world, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; layers[i].name && length < size; i++)
        if (world_serves(world, i))
            length += (size_t)snprintf(out + length, size - length, "%s%s", length ? ", " : "",
                                       layers[i].name);
    return out;
}

int render_options_layers(struct tile_box *box, const char *text, char why[RENDER_WHY])
{
    char name[64], accepted[256];

    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        const int layer = layer_find(name);
        if (layer < 0 || !world_serves(box->world, layer))
            return refuse(why, "--layer: world %.64s has no \"%.40s\"; accepted are %s",
                          box->world->config.name, name,
                          served(box->world, accepted, sizeof accepted));
        for (int i = 0; i < box->layer_count; i++)
            if (box->layer[i] == layer)
                return refuse(why, "--layer: %s is there twice", name);
        box->layer[box->layer_count++] = layer;
    }
    return 0;
}
