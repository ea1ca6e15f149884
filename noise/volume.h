/* Formulas of density that kernels and single points share; farlands.h says what they are. Private
 * to noise/. */
#ifndef FARLANDS_VOLUME_H
#define FARLANDS_VOLUME_H

#include <math.h>

#include "terrain.h"

/* Blocks below the surface at HEIGHT metres; Z blocks. */
static inline float volume_below(float height, double z)
{
    return (float)((double)height - z);
}

/* The ground's density where the surface is S blocks above and the noise of overhangs is N. */
static inline float volume_ground(const struct volume *v, float s, float n)
{
    const float q = v->threshold, t = s * v->inverse, w = fmaf(-t, t, 1);
    const float low = n > -q ? n : -q, bulge = n - (low < q ? low : q);
    const float ground = fmaf(v->amplitude * (w * w), bulge, s);
    return fabsf(s) < v->amplitude ? ground : s;
}

/* How far, in blocks, where CAVES' noise is N, or where their two are A and B. */
static inline float volume_cavern(const struct caves *caves, float n)
{
    return fmaf(-caves->scale, n, caves->scale);
}

static inline float volume_tunnel(const struct caves *caves, float a, float b)
{
    return caves->scale * sqrtf(fmaf(b, b, a * a));
}

/* DENSITY less CAVES at DISTANCE, in ground of density GROUND. */
static inline float volume_carve(const struct caves *caves, float ground, float distance,
                                 float density)
{
    float open = fmaf(caves->rise, ground, caves->start);
    open = open > 0 ? open : 0;
    open = open < 1 ? open : 1;
    const float cave = fmaf(-caves->reach, open, distance);
    const float least = cave < density ? cave : density;
    return ground > caves->from ? least : density;
}

#endif
