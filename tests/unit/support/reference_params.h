/* Terrains for the tests of the noise, and their description in failures. */
#ifndef FARLANDS_REFERENCE_PARAMS_H
#define FARLANDS_REFERENCE_PARAMS_H

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/world/world_options.h"
#include "noise/terrain/terrain.h"
#include "tests/unit/support/draws.h"

/* Unlike ck_assert_msg, does not write to a pipe for each assertion that holds: some tests make
 * millions. */
#define REQUIRE(condition, ...)        \
    do {                               \
        if (!(condition))              \
            ck_abort_msg(__VA_ARGS__); \
    } while (0)

/* The options that together choose a hash. */
static const struct hashing {
    const char *name;
    enum farlands_hash hash;
    bool octave_salt;
} hashings[] = {
    {"mix64", FARLANDS_MIX64, false},
    {"permutation", FARLANDS_PERMUTATION, false},
    {"permutation, octave_salt", FARLANDS_PERMUTATION, true},
};

/* A terrain with broad and narrow octaves, whose heights are the noise itself: a knot at 0 keeps
 * small positive values exact and the others within an ulp of 2. */
static inline struct farlands_params reference_params(void)
{
    return (struct farlands_params){
        .seed = 1,
        .gradients = FARLANDS_UNIT256,
        .fade = FARLANDS_QUINTIC,
        .hash = FARLANDS_MIX64,
        .fractal = FARLANDS_FBM,
        .wavelength = BLOCKS(65536),
        .octaves = 14,
        .persistence = 0.5,
        .lacunarity = 2,
        .offset = 1,
        .gain = 2,
        .elevation = {{-2, -2}, {0, 0}, {2, 2}},
        .knots = 3,
    };
}

/* The same with a single octave. */
static inline struct farlands_params reference_single(enum farlands_hash hash, int64_t wavelength)
{
    struct farlands_params params = reference_params();
    params.hash = hash;
    params.fractal = FARLANDS_NONE;
    params.wavelength = wavelength;
    return params;
}

/* The name of choice NUMBER of a key in a world's `noise:`, as configuration files have it. */
static inline const char *choice_name(const char *key, unsigned number)
{
    const struct option *noise = option_find(world_options, "noise", 5)->options;
    return option_find(noise, key, strlen(key))->choices[number];
}

/* PARAMS for the message of a failure. Static text, overwritten by the next call. */
static inline const char *reference_params_text(const struct farlands_params *p)
{
    static char text[512];
    snprintf(text, sizeof text,
             "seed %" PRIu64 ", %s, %s, %s, %s%s, %s, %d octaves from %" PRId64
             " units, persistence %g, lacunarity %g, offset %g, gain %g, warp %" PRId64
             " of %" PRId64 " units, period %" PRId64,
             p->seed, choice_name("basis", p->basis), choice_name("gradients", p->gradients),
             choice_name("fade", p->fade), choice_name("hash", p->hash),
             p->octave_salt ? " with octave_salt" : "", choice_name("fractal", p->fractal),
             p->octaves, p->wavelength, p->persistence, p->lacunarity, p->offset, p->gain,
             p->warp.amplitude, p->warp.wavelength, p->period);
    return text;
}

static inline struct farlands_terrain *reference_terrain(const struct farlands_params *params)
{
    const char *key = "";
    const char *fault = params_fault(params, &key);
    ck_assert_msg(!fault, "%s: %s: %s", reference_params_text(params), key, fault);
    struct farlands_terrain *terrain = NULL;
    ck_assert_int_eq(terrain_new_noise(&terrain, params), 0);
    return terrain;
}

static inline struct farlands_scratch *reference_scratch(void)
{
    struct farlands_scratch *scratch = NULL;
    ck_assert_int_eq(farlands_scratch_new(&scratch), 0);
    return scratch;
}

/* Cells from less than a block to FARLANDS_MAX_VOLUME_WAVELENGTH, some of them powers of two. */
static inline struct farlands_space_noise draw_space_noise(struct draws *draws)
{
    static const int64_t wavelengths[] = {
        100, BLOCKS(4), BLOCKS(16), BLOCKS(37.5), BLOCKS(128), FARLANDS_MAX_VOLUME_WAVELENGTH};
    static const double lacunarities[] = {2, 1.9, 3}, squashes[] = {1, 2, 1.7, 0.25};
    return (struct farlands_space_noise){
        .wavelength = wavelengths[draw_between(draws, 0, LENGTH(wavelengths) - 1)],
        .octaves = (int)draw_between(draws, 1, 4),
        .persistence = (double)draw_between(draws, 1, 100) / 100,
        .lacunarity = lacunarities[draw_between(draws, 0, LENGTH(lacunarities) - 1)],
        .squash = squashes[draw_between(draws, 0, LENGTH(squashes) - 1)],
    };
}

/* A random volume that is valid for PARAMS. Most parts are on; those that do not fit a period are
 * off. */
static inline struct farlands_volume_params draw_volume(struct draws *draws,
                                                        struct farlands_params params)
{
    static const int64_t lengths[] = {1, BLOCKS(5), BLOCKS(24), BLOCKS(200), BLOCKS(16384)};
    struct farlands_volume_params v = {
        .overhangs = {.amplitude = lengths[draw_between(draws, 0, LENGTH(lengths) - 1)],
                      .threshold = (double)draw_between(draws, 0, 30) / 100},
        .caverns = {.size = (double)draw_between(draws, 0, 100) / 100},
        .tunnels = {.radius = lengths[draw_between(draws, 0, LENGTH(lengths) - 1)]},
    };
    struct farlands_space_noise *noises[] = {&v.overhangs.noise, &v.caverns.noise,
                                             &v.tunnels.noise};
    for (int i = 0; i < LENGTH(noises); i++)
        *noises[i] = draw_space_noise(draws);
    v.caverns.cover = draw_between(draws, 0, 2) ? draw_between(draws, 1, BLOCKS(60)) : 0;
    v.tunnels.cover = draw_between(draws, 0, 2) ? draw_between(draws, 1, BLOCKS(60)) : 0;
    if (draw_between(draws, 0, 3) == 0)
        v.overhangs.amplitude = 0;
    if (draw_between(draws, 0, 3) == 0)
        v.tunnels.radius = 0;
    params.volume = v;
    for (int i = 0; i < LENGTH(noises) && params_fault(&params, NULL); i++) {
        for (int k = 0; k < LENGTH(noises); k++)
            noises[k]->octaves = 1;
        params.volume = v;
        if (!params_fault(&params, NULL))
            break;
        if (i == 0)
            v.overhangs.amplitude = 0;
        else if (i == 1)
            v.caverns.size = 0;
        else
            v.tunnels.radius = 0;
        params.volume = v;
    }
    return params.volume;
}

static inline const char *reference_volume_text(const struct farlands_volume_params *v)
{
    static char text[640];
    const struct farlands_space_noise *n[] = {&v->overhangs.noise, &v->caverns.noise,
                                              &v->tunnels.noise};
    int used = snprintf(text, sizeof text,
                        "overhangs %" PRId64 " above %g, caverns %g under %" PRId64
                        ", tunnels %" PRId64 " under %" PRId64,
                        v->overhangs.amplitude, v->overhangs.threshold, v->caverns.size,
                        v->caverns.cover, v->tunnels.radius, v->tunnels.cover);
    for (int i = 0; i < LENGTH(n); i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "; %d octaves from %" PRId64 " units by %g, %g, squash %g", n[i]->octaves,
                         n[i]->wavelength, n[i]->lacunarity, n[i]->persistence, n[i]->squash);
    return text;
}

static inline uint32_t float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

#endif
