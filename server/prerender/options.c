#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "noise/terrain/terrain.h"
#include "server/core/span.h"
#include "server/prerender/archive.h"

/* Exactly one source: a list of tiles or a box. */
static int check_source(const char *const *option, char why[OPTION_WHY])
{
    /* The first three are required. */
    static const enum command_option of_box[] = {ARG_WORLD, ARG_LAYER, ARG_ZOOM,
                                                 ARG_BBOX,  ARG_SCALE, ARG_FORMAT};
    for (size_t i = 0; i < sizeof of_box / sizeof of_box[0]; i++) {
        const char *given = option[of_box[i]], *name = option_shown(of_box[i]);
        if (option[ARG_TILES] && given)
            return option_refuse(why, "--tiles cannot be combined with %s", name);
        if (!option[ARG_TILES] && !given && i < 3)
            return option_refuse(
                why, "%s is missing: expected --world, --layer and --zoom, or --tiles", name);
    }
    return 0;
}

static int parse_mode(struct render_options *options, const char *const *option,
                      char why[OPTION_WHY])
{
    static const enum command_option modes[] = {
        [MODE_DRY_RUN] = ARG_DRY_RUN, [MODE_LIST] = ARG_LIST, [MODE_EXPORT] = ARG_EXPORT};

    for (enum render_mode mode = MODE_DRY_RUN; mode <= MODE_EXPORT; mode++) {
        if (!option[modes[mode]])
            continue;
        if (options->mode)
            return option_refuse(why, "%s cannot be combined with %s",
                                 option_shown(modes[options->mode]), option_shown(modes[mode]));
        options->mode = mode;
    }
    options->archive = option[ARG_EXPORT];
    if (options->archive && !options->archive[0])
        return option_refuse(why, "--export: expected a file name, such as world.mbtiles");
    if (options->archive && !archive_is_named(options->archive))
        return option_refuse(
            why, "--export: expected a name that ends in " ARCHIVE_ENDINGS ", not \"%.200s\"",
            options->archive);
    return 0;
}

static bool parse_zoom(struct span text, int *out)
{
    int64_t zoom;
    if (integer_parse(text.text, text.length, &zoom) || zoom < INT16_MIN || zoom > INT16_MAX)
        return false;
    *out = (int)zoom;
    return true;
}

/* Parse A or A-B; both may be negative. */
static int parse_zooms(struct tile_box *box, const char *text, char why[OPTION_WHY])
{
    const char *dash = text[0] ? strchr(text + 1, '-') : NULL;
    const struct span min = {text, dash ? (size_t)(dash - text) : strlen(text)};
    const struct span max = dash ? (struct span){dash + 1, strlen(dash + 1)} : min;

    if (parse_zoom(min, &box->zoom_min) && parse_zoom(max, &box->zoom_max))
        return 0;
    return option_refuse(why, "--zoom: \"%.40s\"; expected a zoom or A-B, such as 8, 0-12 or -3--1",
                         text);
}

static int parse_format(struct tile_box *box, const char *text, char why[OPTION_WHY])
{
    const int format = format_find(text);

    if (format < 0 || !format_is_picture((enum format)format))
        return option_refuse(why, "--format: \"%.40s\"; expected png or webp", text);
    box->format = (enum format)format;
    return 0;
}

static int parse_shard(struct render_options *options, const char *text, char why[OPTION_WHY])
{
    struct span of = {text, strlen(text)};
    const struct span shard = span_take(&of, '/');

    if (unsigned_parse(shard.text, shard.length, &options->shard) == 0 &&
        unsigned_parse(of.text, of.length, &options->of) == 0 && options->of >= 1 &&
        options->of <= RENDER_SHARDS_MAX && options->shard < options->of)
        return 0;
    return option_refuse(why,
                         "--shard: \"%.40s\"; expected I/N, with I from 0 to N - 1 and N up to %d",
                         text, RENDER_SHARDS_MAX);
}

int render_options_parse(struct render_options *out, const struct command_line *line,
                         char why[OPTION_WHY])
{
    const char *const *option = line->option;
    unsigned scale = 1;

    *out = (struct render_options){
        .tiles = option[ARG_TILES], .box.whole = !option[ARG_BBOX], .of = 1};
    int err = check_source(option, why);
    if (!err)
        err = parse_mode(out, option, why);
    if (!err && option[ARG_ZOOM])
        err = parse_zooms(&out->box, option[ARG_ZOOM], why);
    if (!err && option[ARG_BBOX])
        err = option_box(ARG_BBOX, option[ARG_BBOX], out->box.least, out->box.beyond, why);
    if (!err && option[ARG_SCALE])
        err = option_count(ARG_SCALE, option[ARG_SCALE], 2, &scale, why);
    if (!err && option[ARG_FORMAT])
        err = parse_format(&out->box, option[ARG_FORMAT], why);
    if (!err && option[ARG_SHARD])
        err = parse_shard(out, option[ARG_SHARD], why);
    if (!err && option[ARG_THREADS])
        err = option_count(ARG_THREADS, option[ARG_THREADS], THREADS_MAX, &out->threads, why);
    out->box.scale = (int)scale;
    return err;
}

static const char *served_layers(const struct world *world, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (int i = 0; layers[i].name && length < size; i++)
        if (world_lists(world, i))
            length += (size_t)snprintf(out + length, size - length, "%s%s", length ? ", " : "",
                                       layers[i].name);
    return out;
}

int render_options_layers(struct tile_box *box, const char *text, char why[OPTION_WHY])
{
    char name[LAYER_NAME_MAX], served[256];

    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        const int layer = layer_find(name);
        if (layer < 0 || !world_serves(box->world, layer))
            return option_refuse(why, "--layer: world %.64s has no \"%.40s\"; expected one of %s",
                                 box->world->name, name,
                                 served_layers(box->world, served, sizeof served));
        if (!(layers[layer].formats & 1U << box->format))
            return option_refuse(why, "--format: layer %s has no %s; expected png", name,
                                 format_extension(box->format));
        const char *dot = strchr(name, '.');
        const int field =
            layers[layer].fields ? world_field(box->world, dot + 1, strlen(dot + 1)) : 0;
        if (field < 0 || !world_has_layers(box->world, field))
            return option_refuse(why, "--layer: world %.64s has no field \"%.64s\"",
                                 box->world->name, dot + 1);
        for (int i = 0; i < box->layer_count; i++)
            if (box->layer[i] == layer && box->field[i] == field)
                return option_refuse(why, "--layer: %s is listed twice", name);
        if (box->layer_count == CONFIG_LAYERS_MAX)
            return option_refuse(why, "--layer: more than %d layers", CONFIG_LAYERS_MAX);
        box->field[box->layer_count] = field;
        box->layer[box->layer_count++] = layer;
    }
    return 0;
}
