/*
 * Numbers as clients write them: decimal, in the forms that most languages have, such as 12, -3.5,
 * +5, 007, .5, 5., 1e3 and 2.5E-1. The time is linear in the text's length, whatever the exponent.
 * Pure.
 */
#ifndef FARLANDS_ROUTING_NUMBER_H
#define FARLANDS_ROUTING_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/core/span.h"

struct number_reading {
    bool exact;   /* nothing was rounded; untouched after an error */
    size_t steps; /* characters read and digits made; also set after an error */
};

/*
 * Round a number of blocks to the nearest unit (1/1024 block), ties up as in Math.round. No double
 * is involved. READING may be NULL. Returns 0; -EINVAL for malformed text; -ERANGE for 2^53 blocks
 * and more.
 */
int number_to_units(struct span text, int64_t *out, struct number_reading *reading);

/* Round to the nearest float. Returns 0; -EINVAL for malformed text; -ERANGE if the float is
 * infinite, or if the text has 64 characters or more. */
int number_to_float(struct span text, float *out);

#endif
