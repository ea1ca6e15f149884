/* Averages of exact samples for windows of form, as surveys of the Earth by radar have them. Pure.
 */
#ifndef FARLANDS_DESCRIBE_RESAMPLE_H
#define FARLANDS_DESCRIBE_RESAMPLE_H

#include "server/describe/form.h"

enum {
    RESAMPLE_SPACING = 32, /* metres between samples */
    RESAMPLE_SIDE = FORM_SIDE * FORM_SPACING / RESAMPLE_SPACING,
    RESAMPLE_SAMPLES = RESAMPLE_SIDE * RESAMPLE_SIDE
};

/*
 * Set OUT, FORM_SPACING apart, from SAMPLES, which are replaced: the means of 3 x 3 samples, as
 * SRTM's 90 m were made from its 30 m, then bilinear to 90 m and from there to FORM_SPACING. A
 * window begins where its samples begin, and needs all of them. MEMORY has room for
 * RESAMPLE_SAMPLES.
 */
void resample(float *samples, float *memory, float out[FORM_CELLS]);

#endif
