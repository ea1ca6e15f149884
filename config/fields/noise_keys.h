/* A noise's keys, for tables about any struct with a struct farlands_params inside. Private to
 * config/. */
#ifndef FARLANDS_CONFIG_NOISE_KEYS_H
#define FARLANDS_CONFIG_NOISE_KEYS_H

#include "config/values/option.h"
#include "noise/fractal/params.h"

/* Names of the enumerators in noise/fractal/params.h, in the same order. */
extern const char *const noise_bases[],
    *const noise_gradients[], *const noise_fades[], *const noise_hashes[], *const noise_fractals[];

/* Rows by kind; HELP is as in option.h. */
#define KEY_CHOICE(key, place, names, help)                       \
    {                                                             \
        key, OPTION_CHOICE, place, .choices = (names), HELP(help) \
    }
#define KEY_INTEGER(key, place, min, max, help)          \
    {                                                    \
        key, OPTION_INTEGER, place, min, max, HELP(help) \
    }
#define KEY_REAL(key, place, min, max, help)          \
    {                                                 \
        key, OPTION_REAL, place, min, max, HELP(help) \
    }
#define KEY_BLOCKS(key, place, min, max, help)          \
    {                                                   \
        key, OPTION_BLOCKS, place, min, max, HELP(help) \
    }

/* params_fault refuses 0 itself. */
#define KEY_PERSISTENCE(place)                                                                 \
    {                                                                                          \
        "persistence", OPTION_REAL, place, 0, 1,                                               \
            .expected = "a number above 0 and up to 1",                                        \
            HELP("Each octave's amplitude relative to the octave before: 0.4 is smooth, 0.55 " \
                 "natural, 0.7 rugged.")                                                       \
    }

#define KEY_MIN_WAVELENGTH (2 / 1024.0) /* FARLANDS_MIN_WAVELENGTH in blocks */
#define KEY_LACUNARITY(place)                                                          \
    KEY_REAL("lacunarity", place, 1, FARLANDS_MAX_LACUNARITY,                          \
             "Each octave's frequency relative to the octave before, usually 2. With " \
             "more, fewer octaves reach the same detail, less evenly.")

/* A member cannot be in parentheses: NOLINTBEGIN(bugprone-macro-parentheses) */
/* Rows for the noise that is MEMBER of struct TYPE: keys of all noises, ... */
#define KEYS_OF_OCTAVES(type, member)                                                          \
    KEY_BLOCKS("wavelength", offsetof(type, member.wavelength), KEY_MIN_WAVELENGTH, 0x1p40,    \
               "The cells' width in the first octave: a continent or an island per cell."),    \
        KEY_INTEGER("octaves", offsetof(type, member.octaves), 1, FARLANDS_MAX_OCTAVES,        \
                    "Octaves are added from broad to fine. The finest detail is wavelength / " \
                    "lacunarity^(octaves - 1) wide; each octave costs time."),                 \
        KEY_PERSISTENCE(offsetof(type, member.persistence)),                                   \
        KEY_LACUNARITY(offsetof(type, member.lacunarity))
#define KEYS_OF_LATTICE(type, member)                                                            \
    KEY_CHOICE("gradients", offsetof(type, member.gradients), noise_gradients,                   \
               "The slopes at corners in perlin and simplex: axis4, diagonal4 (a square's "      \
               "corners), unit8, integer8 (a square's sides and corners), unit256 (evenly "      \
               "spaced). More slopes leave fewer straight lines along the axes."),               \
        KEY_CHOICE("fade", offsetof(type, member.fade), noise_fades,                             \
                   "The interpolation within cells in perlin and value: linear shows the cells " \
                   "as creases, cubic is 3t^2-2t^3, quintic (6t^5-15t^4+10t^3) has smooth "      \
                   "slopes."),                                                                   \
        KEY_CHOICE("hash", offsetof(type, member.hash), noise_hashes,                            \
                   "mix64 never repeats. permutation is Ken Perlin's table, shuffled unless "    \
                   "the seed is 0, and repeats after 256 cells."),                               \
    {                                                                                            \
        "octave_salt", OPTION_FLAG,                                                              \
            .offset = offsetof(type, member.octave_salt),                                        \
            HELP("With permutation: each octave has its own lattice, so that octaves do not "    \
                 "resemble each other.")                                                         \
    }
#define KEYS_OF_WARP(type, member)                                                              \
    KEY_BLOCKS("amplitude", offsetof(type, member.warp.amplitude), 0, 0x1p40,                   \
               "The distance for the noise 1; about half as much in practice. A third of "      \
               "the noise's wavelength is strong. 0: no warp."),                                \
        KEY_BLOCKS("wavelength", offsetof(type, member.warp.wavelength), 0, 0x1p40,             \
                   "The bends' width, usually the noise's wavelength or less. Required if the " \
                   "amplitude is not 0; then at least 2/1024.")
/* ... and all keys of `noise:`; WARP is a table with KEYS_OF_WARP. */
#define KEYS_OF_NOISE(type, member, warp)                                                        \
    KEY_CHOICE("basis", offsetof(type, member.basis), noise_bases,                               \
               "perlin: even hills. simplex (Perlin's of 2001, on triangles): the same "         \
               "with less visible axes. cellular (twice the distance to the nearest random "     \
               "point, one per cell, less 1): a feature around each point. value (random "       \
               "values at the corners): the squares show."),                                     \
        KEYS_OF_LATTICE(type, member),                                                           \
        KEY_CHOICE("fractal", offsetof(type, member.fractal), noise_fractals,                    \
                   "How octaves n are combined; in brackets, the usual result with perlin, "     \
                   "offset 1 and persistence 0.5. none: the first octave (-0.5 to 0.5). fbm: "   \
                   "the sum, divided by the sum of amplitudes: rolling land (-0.3 to 0.3). "     \
                   "billow: the same with 2|n| - 1: round hills, sharp valleys (-0.9 to -0.2). " \
                   "ridged: with (offset - |n|)^2, each octave strong only near ridges in the "  \
                   "octave before: mountain chains (0.3 to 0.9). hybrid: with n + offset, each " \
                   "octave stronger where the sum before is higher: smooth valleys, rough "      \
                   "heights (0.4 to 1.1)."),                                                     \
        KEYS_OF_OCTAVES(type, member),                                                           \
        KEY_REAL("offset", offsetof(type, member.offset), 0, FARLANDS_MAX_OFFSET,                \
                 "For ridged and hybrid, the offset in their formulas: how high ridges are, "    \
                 "or how much land is rough. Usually 0.7 to 1."),                                \
        KEY_REAL("gain", offsetof(type, member.gain), 0, FARLANDS_MAX_GAIN,                      \
                 "For ridged: how far from a ridge its finer ridges reach. Usually 2."),         \
    {                                                                                            \
        "warp", OPTION_SECTION,                                                                  \
            .options = (warp),                                                                   \
            HELP("First moves each point by another noise, which bends ridges and coasts.")      \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
