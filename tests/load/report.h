/* The report of a run: a table for people, JSON for programs. */
#ifndef LOAD_REPORT_H
#define LOAD_REPORT_H

#include <stdio.h>

#include "stream.h"

struct report {
    const struct plan *plan;
    struct stream *const *streams; /* one per stream of the plan */
    double seconds;                /* from the first due request to the last response */
    double cpu;                    /* CPU seconds used by this program meanwhile */
};

void report_table(const struct report *report, FILE *out);
/* The sums of all streams so far, a line of JSON. */
void report_progress(const struct report *report, FILE *out);
void report_json(const struct report *report, FILE *out);

#endif
