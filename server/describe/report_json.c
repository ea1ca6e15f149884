#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "server/describe/report.h"
#include "server/layers/layer.h"

/* cJSON's functions accept NULL, so one check at the end is enough: if any part is missing, there
 * is no document. */
struct document {
    cJSON *root;
    bool complete;
};

/* Add VALUE to PARENT, as KEY or, if that is NULL, at the end of an array. */
static cJSON *add(struct document *document, cJSON *parent, const char *key, cJSON *value)
{
    if (value &&
        (key ? cJSON_AddItemToObject(parent, key, value) : cJSON_AddItemToArray(parent, value)))
        return value;
    cJSON_Delete(value);
    document->complete = false;
    return NULL;
}

/* Six digits; null if NUMBER is infinite or none. */
static void add_number(struct document *document, cJSON *parent, const char *key, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", number);
    add(document, parent, key, isfinite(number) ? cJSON_CreateRaw(text) : cJSON_CreateNull());
}

/* KEY with a number in it. */
static void add_numbered(struct document *document, cJSON *parent, int key, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%d", key);
    add_number(document, parent, text, number);
}

static void add_numbers(struct document *document, cJSON *parent, const char *key,
                        const double *numbers, int count)
{
    cJSON *array = add(document, parent, key, cJSON_CreateArray());
    for (int i = 0; i < count; i++)
        add_number(document, array, NULL, numbers[i]);
}

static void add_quantiles(struct document *document, cJSON *parent, const char *key,
                          const struct quantiles *quantiles)
{
    add_numbers(document, parent, key, quantiles->value, QUANTILES);
}

static void add_head(struct document *document, const struct survey_options *options)
{
    const struct world *world = options->world;
    char seed[32];
    const double range[] = {(double)world->colors->min, (double)world->colors->max};
    const double box[] = {
        (double)options->least[0] / FARLANDS_UNIT, (double)options->least[1] / FARLANDS_UNIT,
        (double)options->beyond[0] / FARLANDS_UNIT, (double)options->beyond[1] / FARLANDS_UNIT};

    snprintf(seed, sizeof seed, "%" PRIu64, options->seed);
    add(document, document->root, "world", cJSON_CreateString(world->config.name));
    add(document, document->root, "fingerprint", cJSON_CreateString(world->fingerprint));
    add_numbers(document, document->root, "range", range, 2);
    add(document, document->root, "bbox", cJSON_CreateDoubleArray(box, 4));
    add(document, document->root, "seed", cJSON_CreateString(seed));
    add_number(document, document->root, "drawn", SURVEY_DRAWN);
}

static void add_slopes(struct document *document, const struct survey *survey)
{
    struct quantiles degrees;
    for (int i = 0; i < QUANTILES; i++)
        degrees.value[i] = atan(survey->slope.value[i]) * 180 / M_PI;
    add_quantiles(document, document->root, "slope", &degrees);
    cJSON *steeper = add(document, document->root, "steeper", cJSON_CreateObject());
    for (int i = 0; i < STEEP_ANGLES; i++)
        add_numbered(document, steeper, steep_degrees[i], survey->steeper[i]);
}

static void add_relief(struct document *document, const struct survey *survey)
{
    cJSON *relief = add(document, document->root, "relief", cJSON_CreateObject());
    cJSON *variety = add(document, document->root, "variety", cJSON_CreateObject());
    for (int i = 0; i < RELIEF_SCALES; i++) {
        char side[32];
        snprintf(side, sizeof side, "%d", relief_sides[i]);
        add_quantiles(document, relief, side, &survey->relief[i]);
        add_number(document, variety, side, survey->variety[i]);
    }
}

static void add_ways(struct document *document, const struct survey *survey)
{
    static const char *const names[WALK_GOALS] = {
        [WALK_CLIMB] = "climb", [WALK_SEA] = "sea", [WALK_CLASS] = "ground"};
    cJSON *ways = add(document, document->root, "way", cJSON_CreateObject());
    for (int i = 0; i < WALK_GOALS; i++)
        add_quantiles(document, ways, names[i], &survey->way[i]);
}

static void add_shares(struct document *document, const struct survey *survey)
{
    cJSON *ground = add(document, document->root, "ground", cJSON_CreateObject());
    cJSON *depressions = add(document, document->root, "depressions", cJSON_CreateObject());
    for (int i = 0; i < GROUND_CLASSES; i++)
        add_number(document, ground, ground_names[i],
                   (double)survey->class_count[i] / SURVEY_DRAWN);
    for (int i = 0; i < WINDOW_STEPS; i++)
        add_numbered(document, depressions, window_steps[i], survey->sunken[i]);
}

static void add_fields(struct document *document, const struct survey *survey,
                       const struct tile_times *times)
{
    cJSON *fields = add(document, document->root, "fields", cJSON_CreateObject());
    for (int i = 0; i < survey->fields; i++) {
        const struct field_values *values = &survey->field[i];
        const double range[] = {(double)values->min, (double)values->max};
        cJSON *field = add(document, fields, values->name, cJSON_CreateObject());
        if (values->unit[0])
            add(document, field, "unit", cJSON_CreateString(values->unit));
        add_numbers(document, field, "range", range, 2);
        add_quantiles(document, field, "values", &values->values);
        add_numbers(document, field, "share", times->share[i], TILE_TIMES_ZOOMS);
    }
}

static void add_times(struct document *document, const struct tile_times *times)
{
    cJSON *tile = add(document, document->root, "tile", cJSON_CreateObject());
    add(document, tile, "zoom", cJSON_CreateIntArray(tile_times_zooms, TILE_TIMES_ZOOMS));
    add(document, tile, "layer", cJSON_CreateString(layers[times->layer].name));
    add_numbers(document, tile, "ms", times->tile, TILE_TIMES_ZOOMS);
    add_numbers(document, tile, "picture_heights_ms", times->picture, TILE_TIMES_ZOOMS);
    add_numbers(document, tile, "heights_ms", times->heights, TILE_TIMES_ZOOMS);
}

int report_print_json(const struct report *report, FILE *out)
{
    const struct survey *survey = report->survey;
    struct document document = {cJSON_CreateObject(), true};

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
    add_fields(&document, survey, report->times);
    add_times(&document, report->times);
    char *text = document.complete ? cJSON_Print(document.root) : NULL;
    if (text)
        fprintf(out, "%s\n", text);
    cJSON_free(text);
    cJSON_Delete(document.root);
    return text ? 0 : -ENOMEM;
}
