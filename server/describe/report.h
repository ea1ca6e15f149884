/* What `farlands describe` prints: a survey and the times of tiles, as text or as JSON. */
#ifndef FARLANDS_DESCRIBE_REPORT_H
#define FARLANDS_DESCRIBE_REPORT_H

#include <stdio.h>

#include "server/describe/survey.h"
#include "server/describe/tile_times.h"

struct report {
    const struct survey_options *options;
    const struct survey *survey;
    const struct tile_times *times;
};

/* A table to read. */
void report_print_text(const struct report *report, FILE *out);

/* One object, for programs. Lengths are in blocks, slopes in degrees, times in ms; a quantile is
 * null if it is beyond the limit of a walk. Returns 0 or -ENOMEM. */
int report_print_json(const struct report *report, FILE *out);

#endif
