/*
 * How much work the parts of a plan are, and what is left of it: a part's tiles cost what renders
 * of them have taken, not what skipping those that were there took. Pure.
 */
#ifndef FARLANDS_PRERENDER_ETA_H
#define FARLANDS_PRERENDER_ETA_H

#include <stddef.h>
#include <stdint.h>

struct part_work {
    uint64_t tiles;
    double sampled; /* ns that a render is expected to take; 0: not known */
    /* Atomic: tiles that are done with, renders among them, and the ns of threads that these took.
     */
    uint64_t done, rendered, ns;
};

/*
 * The seconds that THREADS will work on what is left of PARTS of WORK, should none of its tiles be
 * there yet; less than 0 where nothing has been measured.
 */
double eta_seconds(const struct part_work *work, size_t parts, unsigned threads);

#endif
