/* Prints a survey, the form of windows, how zooms agree and the times of tiles for `farlands
 * describe`, as text or JSON. */
#ifndef FARLANDS_DESCRIBE_REPORT_H
#define FARLANDS_DESCRIBE_REPORT_H

#include <stdio.h>

#include "server/describe/survey.h"
#include "server/describe/tile_times.h"
#include "server/describe/windows.h"
#include "server/describe/zooms.h"

struct report {
    const struct survey_options *options;
    const struct survey *survey;
    const struct windows *windows;
    const struct zooms *zooms;
    const struct tile_times *times;
};

/* Print tables for people. */
void report_print_text(const struct report *report, FILE *out);

/* Print one JSON object. Lengths are in blocks, slopes in degrees, times in ms. A quantile is null
 * if it is beyond a walk's limit. Returns 0 or -ENOMEM. */
int report_print_json(const struct report *report, FILE *out);

#endif
