/* What a run found: as a table for people, as JSON for programs. */
#ifndef LOAD_REPORT_H
#define LOAD_REPORT_H

#include <stdio.h>

#include "stream.h"

struct report {
    const struct plan *plan;
    struct stream *const *streams; /* one for each of the plan's */
    double seconds;                /* from the first request due to the last answer */
    double cpu;                    /* seconds of CPU that this program itself took meanwhile */
};

void report_table(const struct report *report, FILE *out);
void report_json(const struct report *report, FILE *out);

#endif
