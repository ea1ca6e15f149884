/* The keys of a noise, in any struct that has a struct farlands_params. Private to config/. */
#ifndef FARLANDS_CONFIG_NOISE_KEYS_H
#define FARLANDS_CONFIG_NOISE_KEYS_H

#include "config/values/option.h"
#include "noise/fractal/params.h"

/* The names of the enumerators of noise/fractal/params.h, in their order. */
extern const char *const noise_bases[],
    *const noise_gradients[], *const noise_fades[], *const noise_hashes[], *const noise_fractals[];

#define KEY_CHOICE(key, place, names)                  \
    {                                                  \
        key, OPTION_CHOICE, place, .choices = (names), \
    }
#define KEY_INTEGER(key, place, min, max)                     \
    {                                                         \
        key, OPTION_INTEGER, place, min, max, .choices = NULL \
    }
#define KEY_REAL(key, place, min, max)                     \
    {                                                      \
        key, OPTION_REAL, place, min, max, .choices = NULL \
    }
#define KEY_BLOCKS(key, place, min, max)                     \
    {                                                        \
        key, OPTION_BLOCKS, place, min, max, .choices = NULL \
    }

/* 0 itself is refused by params_fault. */
#define KEY_PERSISTENCE(place)                                                              \
    {                                                                                       \
        "persistence", OPTION_REAL, place, 0, 1, .expected = "a number above 0 and up to 1" \
    }

#define KEY_MIN_WAVELENGTH (2 / 1024.0) /* FARLANDS_MIN_WAVELENGTH in blocks */
#define KEY_LACUNARITY(place) KEY_REAL("lacunarity", place, 1, FARLANDS_MAX_LACUNARITY)

/* A member cannot be in parentheses: NOLINTBEGIN(bugprone-macro-parentheses) */
/* Rows of a table, of the noise MEMBER in struct TYPE: those that all noises have, ... */
#define KEYS_OF_OCTAVES(type, member)                                                        \
    KEY_BLOCKS("wavelength", offsetof(type, member.wavelength), KEY_MIN_WAVELENGTH, 0x1p40), \
        KEY_INTEGER("octaves", offsetof(type, member.octaves), 1, FARLANDS_MAX_OCTAVES),     \
        KEY_PERSISTENCE(offsetof(type, member.persistence)),                                 \
        KEY_LACUNARITY(offsetof(type, member.lacunarity))
#define KEYS_OF_LATTICE(type, member)                                            \
    KEY_CHOICE("gradients", offsetof(type, member.gradients), noise_gradients),  \
        KEY_CHOICE("fade", offsetof(type, member.fade), noise_fades),            \
        KEY_CHOICE("hash", offsetof(type, member.hash), noise_hashes),           \
    {                                                                            \
        "octave_salt", OPTION_FLAG, .offset = offsetof(type, member.octave_salt) \
    }
#define KEYS_OF_WARP(type, member)                                             \
    KEY_BLOCKS("amplitude", offsetof(type, member.warp.amplitude), 0, 0x1p40), \
        KEY_BLOCKS("wavelength", offsetof(type, member.warp.wavelength), 0, 0x1p40)
/* ... and those of `noise:`; WARP is a table of KEYS_OF_WARP. */
#define KEYS_OF_NOISE(type, member, warp)                                                          \
    KEY_CHOICE("basis", offsetof(type, member.basis), noise_bases), KEYS_OF_LATTICE(type, member), \
        KEY_CHOICE("fractal", offsetof(type, member.fractal), noise_fractals),                     \
        KEYS_OF_OCTAVES(type, member),                                                             \
        KEY_REAL("offset", offsetof(type, member.offset), 0, FARLANDS_MAX_OFFSET),                 \
        KEY_REAL("gain", offsetof(type, member.gain), 0, FARLANDS_MAX_GAIN),                       \
    {                                                                                              \
        "warp", OPTION_SECTION, .options = (warp)                                                  \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
