/*
 * Lakes. Private to drainage/.
 *
 * A lake has the level of its sill, a node of a course. All ground that drains over the sill is at
 * least as high, since water never rises. So a smooth map of heights above the sill, which lowers
 * the lowest ground below the lake's level and leaves high ground alone, makes a lake that no dam
 * must hold: its shores are level lines of a valley that its rivers have built.
 *
 * Nodes keep their heights from before that map; whoever reads the ground applies it.
 */
#ifndef FARLANDS_LAKES_H
#define FARLANDS_LAKES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "noise/drainage/nodes.h"
#include "noise/exact/arithmetic.h"

#define LAKE_DEEPEST 240.0f   /* metres */
#define LAKE_SHALLOWEST 0.01f /* metres: at a sill */
#define LAKE_HIGHEST 16000.0f /* metres: no lake begins higher */

/* A lake's level in quarters of a metre, rounded up; and back. Lakes are above the sea. */
static inline uint16_t lake_quarters(float level)
{
    return (uint16_t)ceilf(level * 4);
}

static inline float lake_level(uint16_t quarters)
{
    return (float)quarters * 0.25f;
}

/* The depth of a lake where its sill's height is, in parts of a metre; and back. */
static inline uint16_t lake_parts(float depth)
{
    return (uint16_t)(depth * 256);
}

static inline float lake_depth(uint16_t parts)
{
    return (float)parts * (1 / 256.0f);
}

/* A lake changes ground up to so many of its depths above it. The map rises everywhere if this is 3
 * or more. */
#define LAKE_RISE 4.0f

/* How high the ground was above the lake where it is just above it now, in depths. */
#define LAKE_SHORE 0.61f

/* HEIGHT, lowered by a lake at LEVEL, no lower than that, that is DEPTH deep where HEIGHT is
 * LEVEL. */
static inline float lake_lower(float height, float level, float depth)
{
    const float above = 1 - (height - level) / (LAKE_RISE * depth);
    return depth > 0 && above > 0 ? height - depth * above * above * above : height;
}

/* Whether ground of HEIGHT is in such a lake, or at its sill. */
static inline bool lake_is_wet(float height, float level, float depth)
{
    return depth > 0 && lake_lower(height, level, depth) <= level;
}

/* Begin lakes on courses, after a route, as DRAW says. CELL: the spacing in metres. */
void lakes_begin(struct nodes *nodes, float cell);

/* Find the nodes of lakes that courses bring or that begin here, after the last route. CELL: the
 * spacing in metres. */
void lakes_find(struct nodes *nodes, float cell);

#endif
