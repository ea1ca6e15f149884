#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "server/core/json.h"
#include "server/describe/report.h"
#include "server/layers/layer.h"

/* Add NUMBER with six digits; null if it is not finite. */
static void add_number(struct json *document, const char *key, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", number);
    json_raw(document, key, isfinite(number) ? text : "null");
}

/* Add NUMBER; the key is a number, too. */
static void add_numbered(struct json *document, int key, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%d", key);
    add_number(document, text, number);
}

static void add_numbers(struct json *document, const char *key, const double *numbers, int count)
{
    json_list(document, key);
    for (int i = 0; i < count; i++)
        add_number(document, NULL, numbers[i]);
    json_close(document);
}

static void add_quantiles(struct json *document, const char *key, const struct quantiles *quantiles)
{
    add_numbers(document, key, quantiles->value, QUANTILES);
}

static void add_head(struct json *document, const struct survey_options *options)
{
    const struct world *world = options->world;
    const double range[] = {(double)world->colors->min, (double)world->colors->max};
    const double box[] = {
        (double)options->least[0] / FARLANDS_UNIT, (double)options->least[1] / FARLANDS_UNIT,
        (double)options->beyond[0] / FARLANDS_UNIT, (double)options->beyond[1] / FARLANDS_UNIT};

    json_string(document, "world", world->name);
    json_string(document, "fingerprint", world->fingerprints.region);
    add_numbers(document, "range", range, 2);
    json_reals(document, "bbox", box, 4);
    json_text(document, "seed", "%" PRIu64, options->seed);
    add_number(document, "drawn", SURVEY_DRAWN);
}

static void add_slopes(struct json *document, const struct survey *survey)
{
    struct quantiles degrees;
    for (int i = 0; i < QUANTILES; i++)
        degrees.value[i] = atan(survey->slope.value[i]) * 180 / M_PI;
    add_quantiles(document, "slope", &degrees);
    json_object(document, "steeper");
    for (int i = 0; i < STEEP_ANGLES; i++)
        add_numbered(document, steep_degrees[i], survey->steeper[i]);
    json_close(document);
}

static void add_relief(struct json *document, const struct survey *survey)
{
    json_object(document, "relief");
    for (int i = 0; i < RELIEF_SCALES; i++) {
        char side[32];
        snprintf(side, sizeof side, "%d", relief_sides[i]);
        add_quantiles(document, side, &survey->relief[i]);
    }
    json_close(document);
    json_object(document, "variety");
    for (int i = 0; i < RELIEF_SCALES; i++)
        add_numbered(document, relief_sides[i], survey->variety[i]);
    json_close(document);
}

static void add_ways(struct json *document, const struct survey *survey)
{
    static const char *const names[WALK_GOALS] = {
        [WALK_CLIMB] = "climb", [WALK_SEA] = "sea", [WALK_CLASS] = "ground"};
    json_object(document, "way");
    for (int i = 0; i < WALK_GOALS; i++)
        add_quantiles(document, names[i], &survey->way[i]);
    json_close(document);
}

static void add_water(struct json *document, const struct survey *survey)
{
    if (!survey->has_water)
        return;
    json_object(document, "water");
    add_number(document, "rivers", survey->water.rivers);
    add_number(document, "lakes", survey->water.lakes);
    json_object(document, "ends");
    add_number(document, "sea", survey->water.sea);
    add_number(document, "end lake", survey->water.ends);
    json_close(document);
    add_quantiles(document, "distance", &survey->water.distance);
    add_quantiles(document, "length", &survey->water.length);
    json_integer(document, "chords", survey->water.headings.chords);
    add_number(document, "hexagonal", headings_hexagonal(&survey->water.headings));
    json_close(document);
}

static void add_shares(struct json *document, const struct survey *survey)
{
    json_object(document, "ground");
    for (int i = 0; i < GROUND_CLASSES; i++)
        add_number(document, ground_names[i], (double)survey->class_count[i] / SURVEY_DRAWN);
    json_close(document);
    json_object(document, "depressions");
    for (int i = 0; i < WINDOW_STEPS; i++)
        add_numbered(document, window_steps[i], survey->sunken[i]);
    json_close(document);
}

static void add_fields(struct json *document, const struct survey *survey,
                       const struct tile_times *times)
{
    json_object(document, "fields");
    for (int i = 0; i < survey->fields; i++) {
        const struct field_values *values = &survey->field[i];
        const double range[] = {(double)values->min, (double)values->max};
        json_object(document, values->name);
        if (values->unit[0])
            json_string(document, "unit", values->unit);
        add_numbers(document, "range", range, 2);
        add_quantiles(document, "values", &values->values);
        add_numbers(document, "ms", times->field[i], TILE_TIMES_ZOOMS);
        json_close(document);
    }
    json_close(document);
}

static void add_form(struct json *document, const struct windows *windows)
{
    static const char *const names[FORM_MEASURES] = {
        [FORM_RIDGES] = "ridge_conn", [FORM_CURVATURE] = "lap_skew", [FORM_CONCAVITY] = "theta",
        [FORM_SUNK] = "sunk",         [FORM_VALLEYS] = "valleys",
    };
    json_object(document, "form");
    for (int class = 0; class < WINDOW_CLASSES; class ++) {
        json_object(document, window_names[class]);
        json_integer(document, "windows", windows->count[class]);
        for (int i = 0; i < FORM_MEASURES; i++)
            add_number(document, names[i], windows->median[class][i]);
        json_close(document);
    }
    json_close(document);
}

static void add_zooms(struct json *document, const struct zooms *zooms)
{
    json_list(document, "zooms");
    for (int i = 0; i < ZOOMS; i++) {
        json_object(document, NULL);
        json_integer(document, "zoom", ZOOMS_FIRST + i);
        add_number(document, "p99", zooms->apart[i]);
        add_number(document, "water", zooms->water[i][0]);
        add_number(document, "next_water", zooms->water[i][1]);
        json_close(document);
    }
    json_close(document);
}

static void add_times(struct json *document, const struct tile_times *times)
{
    json_object(document, "tile");
    json_list(document, "zoom");
    for (int i = 0; i < TILE_TIMES_ZOOMS; i++)
        json_integer(document, NULL, tile_times_zooms[i]);
    json_close(document);
    json_string(document, "layer", layers[times->layer].name);
    add_numbers(document, "ms", times->tile, TILE_TIMES_ZOOMS);
    add_numbers(document, "picture_heights_ms", times->picture, TILE_TIMES_ZOOMS);
    add_numbers(document, "heights_ms", times->heights, TILE_TIMES_ZOOMS);
    json_close(document);
}

int report_print_json(const struct report *report, FILE *out)
{
    const struct survey *survey = report->survey;
    struct json document = json_new(true);

    add_head(&document, report->options);
    add_number(&document, "land", (double)survey->land / SURVEY_DRAWN);
    add_number(&document, "places", survey->places);
    add_numbers(&document, "quantiles", quantile_shares, QUANTILES);
    add_quantiles(&document, "height", &survey->height);
    add_quantiles(&document, "land_height", &survey->land_height);
    add_slopes(&document, survey);
    add_relief(&document, survey);
    add_ways(&document, survey);
    add_shares(&document, survey);
    add_water(&document, survey);
    add_fields(&document, survey, report->times);
    add_form(&document, report->windows);
    add_zooms(&document, report->zooms);
    add_times(&document, report->times);
    struct blob *text = json_end(&document);
    if (!text)
        return -ENOMEM;
    fwrite(text->bytes, 1, text->length, out);
    blob_release(text);
    return 0;
}
