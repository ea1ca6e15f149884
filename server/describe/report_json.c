#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "server/core/json.h"
#include "server/describe/report.h"
#include "server/layers/layer.h"

/* Six digits; null if NUMBER is infinite or none. */
static void add_number(struct json *document, cJSON *parent, const char *key, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", number);
    json_add(document, parent, key, isfinite(number) ? cJSON_CreateRaw(text) : cJSON_CreateNull());
}

/* KEY with a number in it. */
static void add_numbered(struct json *document, cJSON *parent, int key, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%d", key);
    add_number(document, parent, text, number);
}

static void add_numbers(struct json *document, cJSON *parent, const char *key,
                        const double *numbers, int count)
{
    cJSON *array = json_add(document, parent, key, cJSON_CreateArray());
    for (int i = 0; i < count; i++)
        add_number(document, array, NULL, numbers[i]);
}

static void add_quantiles(struct json *document, cJSON *parent, const char *key,
                          const struct quantiles *quantiles)
{
    add_numbers(document, parent, key, quantiles->value, QUANTILES);
}

static void add_head(struct json *document, const struct survey_options *options)
{
    const struct world *world = options->world;
    const double range[] = {(double)world->colors->min, (double)world->colors->max};
    const double box[] = {
        (double)options->least[0] / FARLANDS_UNIT, (double)options->least[1] / FARLANDS_UNIT,
        (double)options->beyond[0] / FARLANDS_UNIT, (double)options->beyond[1] / FARLANDS_UNIT};

    json_add_text(document, document->root, "world", "%s", world->name);
    json_add_text(document, document->root, "fingerprint", "%s", world->fingerprint);
    add_numbers(document, document->root, "range", range, 2);
    json_add(document, document->root, "bbox", cJSON_CreateDoubleArray(box, 4));
    json_add_text(document, document->root, "seed", "%" PRIu64, options->seed);
    add_number(document, document->root, "drawn", SURVEY_DRAWN);
}

static void add_slopes(struct json *document, const struct survey *survey)
{
    struct quantiles degrees;
    for (int i = 0; i < QUANTILES; i++)
        degrees.value[i] = atan(survey->slope.value[i]) * 180 / M_PI;
    add_quantiles(document, document->root, "slope", &degrees);
    cJSON *steeper = json_add(document, document->root, "steeper", cJSON_CreateObject());
    for (int i = 0; i < STEEP_ANGLES; i++)
        add_numbered(document, steeper, steep_degrees[i], survey->steeper[i]);
}

static void add_relief(struct json *document, const struct survey *survey)
{
    cJSON *relief = json_add(document, document->root, "relief", cJSON_CreateObject());
    cJSON *variety = json_add(document, document->root, "variety", cJSON_CreateObject());
    for (int i = 0; i < RELIEF_SCALES; i++) {
        char side[32];
        snprintf(side, sizeof side, "%d", relief_sides[i]);
        add_quantiles(document, relief, side, &survey->relief[i]);
        add_number(document, variety, side, survey->variety[i]);
    }
}

static void add_ways(struct json *document, const struct survey *survey)
{
    static const char *const names[WALK_GOALS] = {
        [WALK_CLIMB] = "climb", [WALK_SEA] = "sea", [WALK_CLASS] = "ground"};
    cJSON *ways = json_add(document, document->root, "way", cJSON_CreateObject());
    for (int i = 0; i < WALK_GOALS; i++)
        add_quantiles(document, ways, names[i], &survey->way[i]);
}

static void add_water(struct json *document, const struct survey *survey)
{
    if (!survey->has_water)
        return;
    cJSON *water = json_add(document, document->root, "water", cJSON_CreateObject());
    add_number(document, water, "rivers", survey->water.rivers);
    add_number(document, water, "lakes", survey->water.lakes);
    cJSON *ends = json_add(document, water, "ends", cJSON_CreateObject());
    add_number(document, ends, "sea", survey->water.sea);
    add_number(document, ends, "end lake", survey->water.ends);
    add_quantiles(document, water, "distance", &survey->water.distance);
    add_quantiles(document, water, "length", &survey->water.length);
}

static void add_shares(struct json *document, const struct survey *survey)
{
    cJSON *ground = json_add(document, document->root, "ground", cJSON_CreateObject());
    cJSON *depressions = json_add(document, document->root, "depressions", cJSON_CreateObject());
    for (int i = 0; i < GROUND_CLASSES; i++)
        add_number(document, ground, ground_names[i],
                   (double)survey->class_count[i] / SURVEY_DRAWN);
    for (int i = 0; i < WINDOW_STEPS; i++)
        add_numbered(document, depressions, window_steps[i], survey->sunken[i]);
}

static void add_fields(struct json *document, const struct survey *survey,
                       const struct tile_times *times)
{
    cJSON *fields = json_add(document, document->root, "fields", cJSON_CreateObject());
    for (int i = 0; i < survey->fields; i++) {
        const struct field_values *values = &survey->field[i];
        const double range[] = {(double)values->min, (double)values->max};
        cJSON *field = json_add(document, fields, values->name, cJSON_CreateObject());
        if (values->unit[0])
            json_add_text(document, field, "unit", "%s", values->unit);
        add_numbers(document, field, "range", range, 2);
        add_quantiles(document, field, "values", &values->values);
        add_numbers(document, field, "ms", times->field[i], TILE_TIMES_ZOOMS);
    }
}

static void add_times(struct json *document, const struct tile_times *times)
{
    cJSON *tile = json_add(document, document->root, "tile", cJSON_CreateObject());
    json_add(document, tile, "zoom", cJSON_CreateIntArray(tile_times_zooms, TILE_TIMES_ZOOMS));
    json_add_text(document, tile, "layer", "%s", layers[times->layer].name);
    add_numbers(document, tile, "ms", times->tile, TILE_TIMES_ZOOMS);
    add_numbers(document, tile, "picture_heights_ms", times->picture, TILE_TIMES_ZOOMS);
    add_numbers(document, tile, "heights_ms", times->heights, TILE_TIMES_ZOOMS);
}

int report_print_json(const struct report *report, FILE *out)
{
    const struct survey *survey = report->survey;
    struct json document = json_new();

    add_head(&document, report->options);
    add_number(&document, document.root, "land", (double)survey->land / SURVEY_DRAWN);
    add_number(&document, document.root, "places", survey->places);
    add_numbers(&document, document.root, "quantiles", quantile_shares, QUANTILES);
    add_quantiles(&document, document.root, "height", &survey->height);
    add_quantiles(&document, document.root, "land_height", &survey->land_height);
    add_slopes(&document, survey);
    add_relief(&document, survey);
    add_ways(&document, survey);
    add_shares(&document, survey);
    add_water(&document, survey);
    add_fields(&document, survey, report->times);
    add_times(&document, report->times);
    struct blob *text = json_end(&document, true);
    if (!text)
        return -ENOMEM;
    fwrite(text->bytes, 1, text->length, out);
    blob_release(text);
    return 0;
}
