/* The check of a terrain's parameters. */
#include <math.h>

#include "noise/fractal/octave.h"
#include "params.h"

struct fault {
    const char *key;
    const char *text;
};

static const struct fault no_fault;

#define WAVELENGTHS "0.001953125 (2/1024) to 1099511627776 (2^40) blocks"

static struct fault choices_fault(const struct farlands_params *params)
{
    if ((unsigned)params->basis >= FARLANDS_BASES)
        return (struct fault){"basis", "unknown basis"};
    if ((unsigned)params->gradients >= FARLANDS_GRADIENT_SETS)
        return (struct fault){"gradients", "unknown gradient set"};
    if ((unsigned)params->fade >= FARLANDS_FADES)
        return (struct fault){"fade", "unknown fade"};
    if ((unsigned)params->hash >= FARLANDS_HASHES)
        return (struct fault){"hash", "unknown hash"};
    if ((unsigned)params->fractal >= FARLANDS_FRACTALS)
        return (struct fault){"fractal", "unknown fractal"};
    if (params->octave_salt && params->hash != FARLANDS_PERMUTATION)
        return (struct fault){"octave_salt", "expected false, or hash: permutation"};
    return no_fault;
}

static bool is_wavelength(int64_t units)
{
    return units >= FARLANDS_MIN_WAVELENGTH && units <= FARLANDS_MAX_WAVELENGTH;
}

static struct fault octaves_fault(const struct farlands_params *params)
{
    if (!is_wavelength(params->wavelength))
        return (struct fault){"wavelength", "expected " WAVELENGTHS};
    if (params->octaves < 1 || params->octaves > FARLANDS_MAX_OCTAVES)
        return (struct fault){"octaves", "expected a whole number from 1 to 64"};
    if (!(params->persistence > 0 && params->persistence <= 1))
        return (struct fault){"persistence", "expected a number above 0 and up to 1"};
    if (!(params->lacunarity >= 1 && params->lacunarity <= FARLANDS_MAX_LACUNARITY))
        return (struct fault){"lacunarity", "expected a number from 1 to 1024"};
    if (!(params->offset >= 0 && params->offset <= FARLANDS_MAX_OFFSET))
        return (struct fault){"offset", "expected a number from 0 to 16"};
    if (!(params->gain >= 0 && params->gain <= FARLANDS_MAX_GAIN))
        return (struct fault){"gain", "expected a number from 0 to 1024"};
    for (int k = 1; k < octave_count(params); k++) {
        int64_t wavelength = params_wavelength(params, k);
        if (wavelength < FARLANDS_MIN_WAVELENGTH || wavelength == params_wavelength(params, k - 1))
            return (struct fault){"octaves", "too many: each octave needs a wavelength of its own, "
                                             "of at least 2/1024 blocks"};
    }
    return no_fault;
}

static struct fault warp_fault(const struct farlands_params *params)
{
    if (params->warp.amplitude < 0 || params->warp.amplitude > FARLANDS_MAX_WAVELENGTH)
        return (struct fault){"warp.amplitude", "expected 0 to 1099511627776 (2^40) blocks"};
    if (params->warp.amplitude > 0
            ? !is_wavelength(params->warp.wavelength)
            : params->warp.wavelength != 0 && !is_wavelength(params->warp.wavelength))
        return (struct fault){"warp.wavelength",
                              "expected " WAVELENGTHS ", or 0 if the amplitude is 0"};
    return no_fault;
}

static struct fault period_fault(const struct farlands_params *params)
{
    if (params->period == 0)
        return no_fault;
    if (params->period < 0 || params->period > FARLANDS_LIMIT)
        return (struct fault){"period", "expected 0 to 4503599627370496 (2^52) blocks"};
    if (params->basis == FARLANDS_SIMPLEX)
        return (struct fault){"period",
                              "simplex noise cannot repeat, only perlin, cellular and value can"};
    for (int k = 0; k < octave_count(params); k++)
        if (params->period % params_wavelength(params, k) != 0)
            return (struct fault){"period", "expected a multiple of every octave's wavelength"};
    if (params->warp.amplitude > 0 && params->period % params->warp.wavelength != 0)
        return (struct fault){"period", "expected a multiple of the warp's wavelength"};
    return no_fault;
}

static struct fault elevation_fault(const struct farlands_params *params)
{
    if (params->knots < 2 || params->knots > FARLANDS_MAX_KNOTS)
        return (struct fault){"elevation", "expected 2 to 32 pairs [noise, metres]"};
    for (int i = 0; i < params->knots; i++) {
        const struct farlands_knot *knot = &params->elevation[i];
        if (!(fabsf(knot->noise) <= 1000 && fabsf(knot->metres) <= 1e6f))
            return (struct fault){"elevation", "expected noise from -1000 to 1000 and metres "
                                               "from -1000000 to 1000000"};
        if (i > 0 && !(knot[-1].noise < knot->noise))
            return (struct fault){
                "elevation", "the noise of each pair must be greater than that of the pair before"};
    }
    return no_fault;
}

/* One space noise's parameters, by name. */
struct space_keys {
    const char *wavelength, *octaves, *persistence, *lacunarity, *squash;
};

#define SPACE_KEYS(name)                                                                        \
    {                                                                                           \
        "volume." name ".wavelength", "volume." name ".octaves", "volume." name ".persistence", \
            "volume." name ".lacunarity", "volume." name ".squash"                              \
    }

static struct fault space_fault(const struct farlands_params *params,
                                const struct farlands_space_noise *noise,
                                const struct space_keys *keys)
{
    if (noise->wavelength < FARLANDS_MIN_WAVELENGTH ||
        noise->wavelength > FARLANDS_MAX_VOLUME_WAVELENGTH)
        return (struct fault){keys->wavelength, "expected 0.001953125 (2/1024) to 16384 blocks"};
    if (noise->octaves < 1 || noise->octaves > FARLANDS_MAX_VOLUME_OCTAVES)
        return (struct fault){keys->octaves, "expected a whole number from 1 to 16"};
    if (!(noise->persistence > 0 && noise->persistence <= 1))
        return (struct fault){keys->persistence, "expected a number above 0 and up to 1"};
    if (!(noise->lacunarity >= 1 && noise->lacunarity <= FARLANDS_MAX_LACUNARITY))
        return (struct fault){keys->lacunarity, "expected a number from 1 to 1024"};
    if (!(noise->squash >= 1 / FARLANDS_MAX_SQUASH && noise->squash <= FARLANDS_MAX_SQUASH))
        return (struct fault){keys->squash, "expected a number from 0.0625 to 16"};
    int64_t last = 0;
    for (int k = 0; k < noise->octaves; k++) {
        const int64_t wavelength = octave_wavelength(noise->wavelength, noise->lacunarity, k);
        if (wavelength < FARLANDS_MIN_WAVELENGTH || wavelength == last ||
            octave_wavelength(wavelength, noise->squash, 1) < FARLANDS_MIN_WAVELENGTH)
            return (struct fault){keys->octaves,
                                  "too many: each octave needs cells of a size of its "
                                  "own, at least 2/1024 blocks wide and high"};
        if (params->period % wavelength != 0)
            return (struct fault){keys->wavelength,
                                  "the world repeats: expected wavelengths that, in each octave, "
                                  "divide the period"};
        last = wavelength;
    }
    return no_fault;
}

#define LENGTHS "expected 0 to 16384 blocks"
#define SHARES "expected a number from 0 to 1"

static bool is_length(int64_t units)
{
    return units >= 0 && units <= FARLANDS_MAX_VOLUME_WAVELENGTH;
}

static bool is_share(double x)
{
    return x >= 0 && x <= 1;
}

static struct fault volume_fault(const struct farlands_params *params)
{
    static const struct space_keys overhangs = SPACE_KEYS("overhangs"),
                                   caverns = SPACE_KEYS("caverns"), tunnels = SPACE_KEYS("tunnels");
    const struct farlands_volume_params *v = &params->volume;
    struct fault fault = no_fault;

    if (!is_length(v->overhangs.amplitude))
        return (struct fault){"volume.overhangs.amplitude", LENGTHS};
    if (!is_share(v->overhangs.threshold))
        return (struct fault){"volume.overhangs.threshold", SHARES};
    if (!is_share(v->caverns.size))
        return (struct fault){"volume.caverns.size", SHARES};
    if (!is_length(v->caverns.cover))
        return (struct fault){"volume.caverns.cover", LENGTHS};
    if (!is_length(v->tunnels.radius))
        return (struct fault){"volume.tunnels.radius", LENGTHS};
    if (!is_length(v->tunnels.cover))
        return (struct fault){"volume.tunnels.cover", LENGTHS};
    if (v->overhangs.amplitude > 0)
        fault = space_fault(params, &v->overhangs.noise, &overhangs);
    if (!fault.text && v->caverns.size > 0)
        fault = space_fault(params, &v->caverns.noise, &caverns);
    if (!fault.text && v->tunnels.radius > 0)
        fault = space_fault(params, &v->tunnels.noise, &tunnels);
    return fault;
}

const char *params_fault(const struct farlands_params *params, const char **key)
{
    static struct fault (*const checks[])(const struct farlands_params *) = {
        choices_fault, octaves_fault, warp_fault, period_fault, elevation_fault, volume_fault,
    };
    for (unsigned i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        struct fault fault = checks[i](params);
        if (!fault.text)
            continue;
        if (key)
            *key = fault.key;
        return fault.text;
    }
    return NULL;
}
