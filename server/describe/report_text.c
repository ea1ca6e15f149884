#include <inttypes.h>
#include <math.h>

#include "config/values/exact_numbers.h"
#include "server/describe/report.h"
#include "server/layers/layer.h"

enum { LABEL_WIDTH = 34, NUMBER_WIDTH = 9, WIDE_COLUMN = 13, DECIMAL = 32, LABEL_MAX = 256 };

static const char *const goals[WALK_GOALS] = {
    [WALK_CLIMB] = "way until 100 m up or down, km",
    [WALK_SEA] = "way until the sea, km",
    [WALK_CLASS] = "way until other ground, km",
};

static const char *const form_labels[FORM_MEASURES] = {
    [FORM_RIDGES] = "ridges go on",
    [FORM_CURVATURE] = "skewness of curvature",
    [FORM_CONCAVITY] = "concavity of channels",
    [FORM_SUNK] = "land in hollows over 1 m, %",
    [FORM_VALLEYS] = "valleys with a river, %",
};

static const int form_units[FORM_MEASURES] = {1, 1, 1, 100, 100};

/* Quantiles, 10 % to 90 %; those of plains have the noise of a radar in their hollows. */
static const char *const form_on_earth[WINDOW_CLASSES][FORM_MEASURES] = {
    [WINDOW_MOUNTAINS] = {"1.5 to 2.8", "-1.2 to -0.4", "0.2 to 0.9", "0.2 to 1.5", "99"},
    [WINDOW_HILLS] = {"0.7 to 2.2", "-1.1 to -0.3", "0.3 to 1.1", "0.2 to 8.1", "99"},
    [WINDOW_PLAINS] = {"0.2 to 0.5", "-1.0 to 0.4", "0.0 to 0.6", "2.2 to 11.1", "99"},
};

/* Print NUMBER right-aligned, with three digits or more but at most three after the point. */
static void print_number(FILE *out, double number)
{
    const double size = fabs(number);
    const int digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    if (isnan(number))
        fprintf(out, "%*s", NUMBER_WIDTH, "-");
    else if (isinf(number))
        fprintf(out, "%*s%d", NUMBER_WIDTH - 4, "> ", WALK_LIMIT / 1000);
    else
        fprintf(out, "%*.*f", NUMBER_WIDTH, digits, size < 0.0005 ? 0 : number); /* not -0 */
}

static void print_row(FILE *out, const char *label, const struct quantiles *quantiles, double unit)
{
    fprintf(out, "%-*s", LABEL_WIDTH, label);
    for (int i = 0; i < QUANTILES; i++)
        print_number(out, quantiles->value[i] / unit);
    fputc('\n', out);
}

static void print_slopes(FILE *out, struct quantiles slopes)
{
    for (int i = 0; i < QUANTILES; i++)
        slopes.value[i] = atan(slopes.value[i]) * 180 / M_PI;
    print_row(out, "slope of land, degrees", &slopes, 1);
}

static void print_shares(FILE *out)
{
    for (int i = 0; i < QUANTILES; i++)
        fprintf(out, "%*.0f %%", NUMBER_WIDTH - 2, quantile_shares[i] * 100);
}

static void print_quantiles(FILE *out, const struct survey *survey)
{
    char label[LABEL_MAX];

    fprintf(out, "%-*s", LABEL_WIDTH, "quantiles");
    print_shares(out);
    fputc('\n', out);
    print_row(out, "height, m", &survey->height, 1);
    print_row(out, "height of land, m", &survey->land_height, 1);
    print_slopes(out, survey->slope);
    for (int i = 0; i < RELIEF_SCALES; i++) {
        snprintf(label, sizeof label, "relief within %d m, m", relief_sides[i]);
        print_row(out, label, &survey->relief[i], 1);
    }
    for (int i = 0; i < WALK_GOALS; i++)
        print_row(out, goals[i], &survey->way[i], 1000);
    if (!survey->has_water)
        return;
    print_row(out, "way of water to a river, km", &survey->water.distance, 1000);
    print_row(out, "way of water to its end, km", &survey->water.length, 1000);
}

/* Print the quantiles of each field, between the field's bounds. */
static void print_fields(FILE *out, const struct survey *survey)
{
    char label[LABEL_MAX];

    fprintf(out, "\n%-*s%*s", LABEL_WIDTH, "fields, at all places", NUMBER_WIDTH, "least");
    print_shares(out);
    fprintf(out, "%*s\n", NUMBER_WIDTH, "most");
    for (int i = 0; i < survey->fields; i++) {
        const struct field_values *field = &survey->field[i];
        snprintf(label, sizeof label, "%s%s%s", field->name, field->unit[0] ? ", " : "",
                 field->unit);
        fprintf(out, "%-*s", LABEL_WIDTH, label);
        print_number(out, (double)field->min);
        for (int k = 0; k < QUANTILES; k++)
            print_number(out, field->values.value[k]);
        print_number(out, (double)field->max);
        fputc('\n', out);
    }
}

/* Format one digit after the point; "-" if NUMBER is not finite. */
static const char *decimal(double number, char buffer[DECIMAL])
{
    snprintf(buffer, DECIMAL, isfinite(number) ? "%.1f" : "-", number);
    return buffer;
}

static void print_land(FILE *out, const struct survey *survey)
{
    char text[DECIMAL];
    fprintf(out, "\nrelief, 90 %% / 10 %%: ");
    for (int i = 0; i < RELIEF_SCALES; i++)
        fprintf(out, "%s%s within %d m", i ? ", " : "", decimal(survey->variety[i], text),
                relief_sides[i]);
    fprintf(out, "\nsteeper than: ");
    for (int i = 0; i < STEEP_ANGLES; i++)
        fprintf(out, "%s%d degrees %s %%", i ? ", " : "", steep_degrees[i],
                decimal(100 * survey->steeper[i], text));
    fprintf(out, " of the land\nin depressions over %g m deep: ", (double)SURVEY_PUDDLE);
    for (int i = 0; i < WINDOW_STEPS; i++)
        fprintf(out, "%s%s %% at steps of %d m", i ? ", " : "",
                decimal(100 * survey->sunken[i], text), window_steps[i]);
    fprintf(out, ", of the land in %d windows\n", survey->windows);
}

static void print_ground(FILE *out, const struct survey *survey)
{
    fprintf(out, "ground: ");
    for (int i = 0; i < GROUND_CLASSES; i++)
        fprintf(out, "%s%s %.1f %%", i ? ", " : "", ground_names[i],
                100.0 * survey->class_count[i] / SURVEY_DRAWN);
    fprintf(out, " of all places\n");
}

/* Print two digits after the point; "-" if NUMBER is not finite. */
static void print_share(FILE *out, double number)
{
    fprintf(out, isfinite(number) ? "%.2f" : "-", number);
}

static void print_water(FILE *out, const struct survey *survey)
{
    char text[DECIMAL];
    fprintf(out, "water: rivers %s %%, ", decimal(100 * survey->water.rivers, text));
    fprintf(out, "lakes %s %% of the land; ", decimal(100 * survey->water.lakes, text));
    fprintf(out, "courses end %d times in the sea, %d times in end lakes\n", survey->water.sea,
            survey->water.ends);
    fprintf(out, "headings of %d chords of rivers, %d m each: hexagonal share ",
            survey->water.headings.chords, HEADINGS_CHORD);
    print_share(out, headings_hexagonal(&survey->water.headings));
    fprintf(out, ", by chance ");
    print_share(out, 1 / sqrt(survey->water.headings.chords));
    fputc('\n', out);
}

/* Print the form of the ground beside that of surveyed windows on Earth. */
static void print_form(FILE *out, const struct windows *windows)
{
    fprintf(out, "\n%-*s", LABEL_WIDTH, "form, medians of windows");
    for (int class = 0; class < WINDOW_CLASSES; class ++)
        fprintf(out, "%*s%*s", WIDE_COLUMN, window_names[class], WIDE_COLUMN, "on Earth");
    fprintf(out, "\n%-*s", LABEL_WIDTH, "windows of 24.6 km");
    for (int class = 0; class < WINDOW_CLASSES; class ++)
        fprintf(out, "%*d", class ? 2 * WIDE_COLUMN : WIDE_COLUMN, windows->count[class]);
    fputc('\n', out);
    for (int which = 0; which < FORM_MEASURES; which++) {
        fprintf(out, "%-*s", LABEL_WIDTH, form_labels[which]);
        for (int class = 0; class < WINDOW_CLASSES; class ++) {
            fprintf(out, "%*s", WIDE_COLUMN - NUMBER_WIDTH, "");
            print_number(out, windows->median[class][which] * form_units[which]);
            fprintf(out, "%*s", WIDE_COLUMN, form_on_earth[class][which]);
        }
        fputc('\n', out);
    }
}

static void print_zooms(FILE *out, const struct zooms *zooms)
{
    fprintf(out, "\n%-*s%*s%*s%*s\n", LABEL_WIDTH, "tiles against the next zoom's", WIDE_COLUMN,
            "99 %, m", WIDE_COLUMN, "water, %", WIDE_COLUMN, "next, %");
    for (int i = 0; i < ZOOMS; i++) {
        fprintf(out, "zoom %2d %*s", ZOOMS_FIRST + i, LABEL_WIDTH - 8 + WIDE_COLUMN - NUMBER_WIDTH,
                "");
        print_number(out, zooms->apart[i]);
        for (int k = 0; k < 2; k++) {
            fprintf(out, "%*s", WIDE_COLUMN - NUMBER_WIDTH, "");
            print_number(out, 100 * zooms->water[i][k]);
        }
        fputc('\n', out);
    }
}

static void print_times_row(FILE *out, const char *label, const double times[TILE_TIMES_ZOOMS])
{
    fprintf(out, "%-*s", LABEL_WIDTH, label);
    for (int zoom = 0; zoom < TILE_TIMES_ZOOMS; zoom++)
        print_number(out, times[zoom]);
    fputc('\n', out);
}

static void print_times(FILE *out, const struct survey *survey, const struct tile_times *times)
{
    char label[LABEL_MAX];

    fprintf(out, "\n%-*s", LABEL_WIDTH, "CPU time of a tile, ms, at zoom");
    for (int zoom = 0; zoom < TILE_TIMES_ZOOMS; zoom++)
        fprintf(out, "%*d", NUMBER_WIDTH, tile_times_zooms[zoom]);
    snprintf(label, sizeof label, "%s: heights, colors and PNG", layers[times->layer].name);
    fputc('\n', out);
    print_times_row(out, label, times->tile);
    print_times_row(out, "heights with every octave", times->heights);
    print_times_row(out, "heights for pictures", times->picture);
    for (int i = 0; survey->fields > 1 && i < survey->fields; i++) {
        snprintf(label, sizeof label, "  %s, by itself", survey->field[i].name);
        print_times_row(out, label, times->field[i]);
    }
}

void report_print_text(const struct report *report, FILE *out)
{
    const struct survey_options *options = report->options;
    const struct survey *survey = report->survey;
    const struct world *world = options->world;
    char west[BLOCKS_TEXT], north[BLOCKS_TEXT], east[BLOCKS_TEXT], south[BLOCKS_TEXT];

    fprintf(out, "%s: fingerprint %s, heights from %g to %g metres\n", world->name,
            world->fingerprints.region, (double)world->colors->min, (double)world->colors->max);
    fprintf(out,
            "%d places in %s,%s,%s,%s, drawn by seed %" PRIu64 "; %d of %d on land looked at "
            "closely\n\n",
            SURVEY_DRAWN, blocks_format(options->least[0], west),
            blocks_format(options->least[1], north), blocks_format(options->beyond[0], east),
            blocks_format(options->beyond[1], south), options->seed, survey->places, survey->land);
    print_quantiles(out, survey);
    print_land(out, survey);
    print_ground(out, survey);
    if (survey->has_water)
        print_water(out, survey);
    if (survey->fields > 1)
        print_fields(out, survey);
    print_form(out, report->windows);
    print_zooms(out, report->zooms);
    print_times(out, survey, report->times);
}
