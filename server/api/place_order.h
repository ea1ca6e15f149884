/*
 * An order of places in which most follow a near one, so that what is remembered of the ground
 * around one helps the next: along a Z-order curve (Morton 1966). Any thread.
 */
#ifndef FARLANDS_API_PLACE_ORDER_H
#define FARLANDS_API_PLACE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* Write pointers to the COUNT places, x and y each, into ORDER. Returns how many are far from the
 * one before, more than 100 blocks along an axis: the first one, too. */
size_t place_order(const int64_t (*place)[2], size_t count, const int64_t **order);

#endif
