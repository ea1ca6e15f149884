#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "config/values/seed.h"
#include "server/commands/option_values.h"
#include "server/describe/report.h"
#include "server/world/worlds.h"

enum { PLACES = 160 };

/* Without --bbox, places are drawn in a square; this is half its side. The whole side, 4194 km, is
 * many times the broadest octave in most worlds. */
static const int64_t HALF_SIDE = FARLANDS_UNIT << 21;

static int parse(struct survey_options *out, const struct command_line *line, char why[OPTION_WHY])
{
    const char *const *option = line->option;
    int err = 0;

    *out = (struct survey_options){.least = {-HALF_SIDE, -HALF_SIDE},
                                   .beyond = {HALF_SIDE, HALF_SIDE},
                                   .places = PLACES,
                                   .threads = uv_available_parallelism()};
    if (option[ARG_BBOX])
        err = option_box(ARG_BBOX, option[ARG_BBOX], out->least, out->beyond, why);
    if (!err && (out->beyond[0] <= out->least[0] || out->beyond[1] <= out->least[1]))
        err = option_refuse(why, "--bbox: \"%.80s\" is empty; expected x0 < x1 and y0 < y1",
                            option[ARG_BBOX]);
    if (!err && option[ARG_PLACES])
        err = option_count(ARG_PLACES, option[ARG_PLACES], SURVEY_DRAWN, &out->places, why);
    if (!err && option[ARG_SEED] &&
        seed_parse(option[ARG_SEED], strlen(option[ARG_SEED]), &out->seed))
        err = option_refuse(why, "--seed: \"%.40s\"; expected " SEED_EXPECTED, option[ARG_SEED]);
    if (!err && option[ARG_THREADS])
        err = option_count(ARG_THREADS, option[ARG_THREADS], THREADS_MAX, &out->threads, why);
    return err;
}

static int print(const struct report *report, bool json)
{
    if (!json)
        report_print_text(report, stdout);
    else if (report_print_json(report, stdout))
        return failed("%s", strerror(ENOMEM));
    return command_line_flush();
}

static int describe(const struct survey_options *options, bool json)
{
    struct survey *survey;
    struct windows windows;
    struct zooms zooms;
    struct tile_times times;
    int err = survey_run(&survey, options);
    if (err)
        return failed("%s", strerror(-err));
    err =
        windows_measure(&windows, options->world, options->threads, survey->place, survey->places);
    if (!err)
        err =
            zooms_measure(&zooms, options->world, options->threads, survey->place, survey->places);
    if (err) {
        survey_free(survey);
        return failed("%s", strerror(-err));
    }
    err = tile_times_measure(&times, options->world, survey->place,
                             survey->places ? survey->places : 1);
    if (err) {
        survey_free(survey);
        return failed("cannot render a tile: %s", strerror(-err));
    }
    const struct report report = {options, survey, &windows, &zooms, &times};
    const int code = print(&report, json);
    free(times.field);
    survey_free(survey);
    return code;
}

int command_describe(const struct command_line *line)
{
    struct survey_options options;
    struct worlds *worlds;
    char why[OPTION_WHY];

    if (parse(&options, line, why))
        return wrong_usage("%s", why);
    int code = load_worlds_of_file(&worlds, line->option[ARG_CONFIG]);
    if (code)
        return code;
    code = hold_world(&options.world, worlds, "WORLD",
                      line->argument ? line->argument : worlds->world[0].name);
    if (!code) {
        code = describe(&options, line->option[ARG_JSON]);
        world_release(options.world);
    }
    worlds_release(worlds);
    return code;
}
