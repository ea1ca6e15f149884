/* Textbook forms of the noise, with the lattice's own hash. params.h has the formulas. */
#include "plain_noise.h"

#include <math.h>

#include "noise/exact/lattice.h"
#include "noise/exact/permutation.h"

static double fade(double t)
{
    return t * t * t * (t * (t * 6 - 15) + 10);
}

static double lerp(double t, double a, double b)
{
    return a + t * (b - a);
}

/* --- From parameters --- */

/* The first 32 directly from libm; rounding them as the library does would make no difference here.
 * */
static void make_gradients(double gradient[256][2])
{
    for (int i = 0; i < 256; i++) {
        const double angle = (i % 32 + 0.5) * 2 * 3.14159265358979323846 / 256;
        const double x = i & 32 ? sin(angle) : cos(angle), y = i & 32 ? cos(angle) : sin(angle);
        gradient[i][0] = i & 64 ? -x : x;
        gradient[i][1] = i & 128 ? -y : y;
    }
}

/* Keys of x and y are the seed's random numbers FIRST and FIRST + 1, that of z is FURTHER; shifts
 * are two further on. */
static struct plain_octave make_octave(uint64_t seed, int64_t wavelength, uint64_t first,
                                       uint64_t further)
{
    const double frequency = 1 / (double)wavelength;
    struct plain_octave octave = {.frequency = frequency, .rise = frequency, .amplitude = 1};
    const uint64_t key[PLAIN_AXES] = {first, first + 1, further};
    for (int axis = 0; axis < PLAIN_AXES; axis++) {
        octave.key[axis] = lattice_random(seed, key[axis]);
        octave.shift[axis] = (double)(lattice_random(seed, key[axis] + 2) % (uint64_t)wavelength);
    }
    return octave;
}

/* Fade from 1 to 0 between four and two samples per cell. */
static double band_limit(double samples)
{
    const double t = fmin(fmax((samples - 0.25) * 4, 0), 1);
    return 1 - t * t * (3 - 2 * t);
}

static void make_space(struct plain_noise *plain, int number,
                       const struct farlands_space_noise *noise)
{
    const struct farlands_params one = {.wavelength = noise->wavelength,
                                        .lacunarity = noise->lacunarity};
    double amplitude = 1;

    plain->space[number].octaves = noise->octaves;
    for (int k = 0; k < noise->octaves; k++, amplitude *= noise->persistence) {
        const int64_t wavelength = params_wavelength(&one, k);
        const uint64_t draw = 520 + 8 * (uint64_t)(16 * number + k);
        struct plain_octave *octave = &plain->space[number].octave[k];
        *octave = make_octave(plain->params.seed, wavelength, draw, draw + 4);
        octave->rise = 1 / floor((double)wavelength / noise->squash + 0.5);
        octave->amplitude = amplitude;
        plain->space[number].amplitude += amplitude;
    }
}

static void make_volume(struct plain_noise *plain)
{
    const struct farlands_volume_params *v = &plain->params.volume;
    if (v->overhangs.amplitude > 0)
        make_space(plain, 0, &v->overhangs.noise);
    if (v->caverns.size > 0)
        make_space(plain, 1, &v->caverns.noise);
    for (int i = 2; v->tunnels.radius > 0 && i < PLAIN_SPACES; i++)
        make_space(plain, i, &v->tunnels.noise);
}

void plain_noise_make(struct plain_noise *plain, const struct farlands_params *params, int64_t step)
{
    double amplitude = 1;

    *plain = (struct plain_noise){.params = *params};
    make_gradients(plain->gradient);
    plain->octaves = params->fractal == FARLANDS_NONE ? 1 : params->octaves;
    for (int k = 0; k < plain->octaves; k++, amplitude *= params->persistence) {
        const uint64_t draw = 4 * (uint64_t)k;
        struct plain_octave *octave = &plain->octave[k];
        *octave = make_octave(params->seed, params_wavelength(params, k), draw, 256 + draw);
        octave->amplitude = amplitude * band_limit((double)step * octave->frequency);
        plain->amplitude += amplitude;
    }
    /* The finest octaves are left out. */
    while (plain->octave[plain->octaves - 1].amplitude == 0)
        plain->octaves--;
    for (int axis = 0; params->warp.amplitude && axis < 2; axis++)
        plain->warp[axis] =
            make_octave(params->seed, params->warp.wavelength, 512 + 4 * (uint64_t)axis, 0);
    make_volume(plain);
}

/* --- One octave --- */

static int corner(const struct plain_octave *octave, int64_t x, int64_t y)
{
    return (int)lattice_corner(lattice_axis(x, octave->key[0]), lattice_axis(y, octave->key[1]));
}

static double dot(const struct plain_noise *plain, int index, double x, double y)
{
    return plain->gradient[index][0] * x + plain->gradient[index][1] * y;
}

static double perlin(const struct plain_noise *plain, const struct plain_octave *octave, double x,
                     double y)
{
    x = (x + octave->shift[0]) * octave->frequency;
    y = (y + octave->shift[1]) * octave->frequency;
    const int64_t i = (int64_t)floor(x), j = (int64_t)floor(y);
    const double fx = x - (double)i, fy = y - (double)j;
    const double n00 = dot(plain, corner(octave, i, j), fx, fy);
    const double n10 = dot(plain, corner(octave, i + 1, j), fx - 1, fy);
    const double n01 = dot(plain, corner(octave, i, j + 1), fx, fy - 1);
    const double n11 = dot(plain, corner(octave, i + 1, j + 1), fx - 1, fy - 1);
    const double u = fade(fx);
    return lerp(fade(fy), lerp(u, n00, n10), lerp(u, n01, n11));
}

static double value_at(const struct plain_octave *octave, int64_t i, int64_t j)
{
    return corner(octave, i, j) * (2 / 255.0) - 1;
}

static double value(const struct plain_octave *octave, double x, double y)
{
    x = (x + octave->shift[0]) * octave->frequency;
    y = (y + octave->shift[1]) * octave->frequency;
    const int64_t i = (int64_t)floor(x), j = (int64_t)floor(y);
    const double u = fade(x - (double)i);
    return lerp(fade(y - (double)j), lerp(u, value_at(octave, i, j), value_at(octave, i + 1, j)),
                lerp(u, value_at(octave, i, j + 1), value_at(octave, i + 1, j + 1)));
}

static double cellular(const struct plain_octave *octave, double x, double y)
{
    double nearest = 1;

    x = (x + octave->shift[0]) * octave->frequency;
    y = (y + octave->shift[1]) * octave->frequency;
    const int64_t i = (int64_t)floor(x), j = (int64_t)floor(y);
    const double fx = x - (double)i, fy = y - (double)j;
    for (int dj = -1; dj <= 1; dj++)
        for (int di = -1; di <= 1; di++) {
            const int index = corner(octave, i + di, j + dj);
            const double px = di + (index + 0.5) / 256 - fx;
            const double py = dj + ((159 * index & 255) + 0.5) / 256 - fy;
            const double squared = px * px + py * py;
            if (squared < nearest)
                nearest = squared;
        }
    return 2 * sqrt(nearest) - 1;
}

static double simplex_corner(const struct plain_noise *plain, const struct plain_octave *octave,
                             int64_t i, int64_t j, double x, double y)
{
    const double t = 0.5 - x * x - y * y;
    if (t <= 0)
        return 0;
    return t * t * t * t * dot(plain, corner(octave, i, j), x, y);
}

static double simplex(const struct plain_noise *plain, const struct plain_octave *octave, double x,
                      double y)
{
    const double skew = 0.36602540378443865;   /* (sqrt 3 - 1) / 2 */
    const double unskew = 0.21132486540518713; /* (3 - sqrt 3) / 6 */

    x = (x + octave->shift[0]) * octave->frequency;
    y = (y + octave->shift[1]) * octave->frequency;
    const double a = x + (x + y) * skew, b = y + (x + y) * skew;
    const int64_t i = (int64_t)floor(a), j = (int64_t)floor(b);
    const double fa = a - (double)i, fb = b - (double)j, t = (fa + fb) * unskew;
    const double x0 = fa - t, y0 = fb - t;
    const int east = fa > fb, south = !east;
    return 70 *
           (simplex_corner(plain, octave, i, j, x0, y0) +
            simplex_corner(plain, octave, i + east, j + south, x0 - east + unskew,
                           y0 - south + unskew) +
            simplex_corner(plain, octave, i + 1, j + 1, x0 - 1 + 2 * unskew, y0 - 1 + 2 * unskew));
}

static double octave_at(const struct plain_noise *plain, const struct plain_octave *octave,
                        double x, double y)
{
    switch (plain->params.basis) {
    case FARLANDS_PERLIN:
        break;
    case FARLANDS_SIMPLEX:
        return simplex(plain, octave, x, y);
    case FARLANDS_CELLULAR:
        return cellular(octave, x, y);
    case FARLANDS_VALUE:
        return value(octave, x, y);
    }
    return perlin(plain, octave, x, y);
}

/* --- All octaves --- */

static double fbm(const struct plain_noise *plain, double x, double y)
{
    double sum = 0;
    for (int k = 0; k < plain->octaves; k++)
        sum += plain->octave[k].amplitude * octave_at(plain, &plain->octave[k], x, y);
    return sum / plain->amplitude;
}

static double billow(const struct plain_noise *plain, double x, double y)
{
    double sum = 0;
    for (int k = 0; k < plain->octaves; k++) {
        const double n = octave_at(plain, &plain->octave[k], x, y);
        sum += plain->octave[k].amplitude * (2 * fabs(n) - 1);
    }
    return sum / plain->amplitude;
}

static double ridged(const struct plain_noise *plain, double x, double y)
{
    double sum = 0, weight = 1;
    for (int k = 0; k < plain->octaves; k++) {
        const double ridge = plain->params.offset - fabs(octave_at(plain, &plain->octave[k], x, y));
        const double signal = weight * ridge * ridge;
        sum += plain->octave[k].amplitude * signal;
        weight = fmin(plain->params.gain * signal, 1);
    }
    return sum / plain->amplitude;
}

static double hybrid(const struct plain_noise *plain, double x, double y)
{
    double sum = 0, weight = 1;
    for (int k = 0; k < plain->octaves; k++) {
        const double n = octave_at(plain, &plain->octave[k], x, y);
        const double signal = weight * plain->octave[k].amplitude * (n + plain->params.offset);
        sum += signal;
        weight = fmin(signal, 1);
    }
    return sum / plain->amplitude;
}

static double fractal(const struct plain_noise *plain, double x, double y)
{
    switch (plain->params.fractal) {
    case FARLANDS_NONE:
    case FARLANDS_FBM:
        break;
    case FARLANDS_BILLOW:
        return billow(plain, x, y);
    case FARLANDS_RIDGED:
        return ridged(plain, x, y);
    case FARLANDS_HYBRID:
        return hybrid(plain, x, y);
    }
    return fbm(plain, x, y);
}

static double elevation(const struct farlands_params *params, double noise)
{
    const struct farlands_knot *knot = params->elevation, *last = knot + params->knots - 1;
    if (noise <= knot->noise)
        return knot->metres;
    if (noise >= last->noise)
        return last->metres;
    while (noise > knot[1].noise)
        knot++;
    const double t = (noise - knot[0].noise) / ((double)knot[1].noise - knot[0].noise);
    return lerp(t, knot[0].metres, knot[1].metres);
}

double plain_noise_height(const struct plain_noise *plain, double x, double y)
{
    const double amplitude = (double)plain->params.warp.amplitude;
    if (amplitude != 0) {
        const double east = amplitude * perlin(plain, &plain->warp[0], x, y);
        const double south = amplitude * perlin(plain, &plain->warp[1], x, y);
        x += east;
        y += south;
    }
    return elevation(&plain->params, fractal(plain, x, y));
}

/* --- Three dimensions --- */

/* "Improving Noise", SIGGRAPH 2002: the sum of two components, with the signs of bits 0 and 1. */
static double corner_3d(const struct plain_octave *octave, int64_t i, int64_t j, int64_t k,
                        double x, double y, double z)
{
    const uint64_t row =
        lattice_join(lattice_axis(j, octave->key[1]), lattice_axis(k, octave->key[2]));
    const uint32_t h = lattice_corner(lattice_axis(i, octave->key[0]), row) & 15;
    const double u = h < 8 ? x : y, v = h < 4 ? y : h == 12 || h == 14 ? x : z;
    return (h & 1 ? -u : u) + (h & 2 ? -v : v);
}

static double perlin_3d(const struct plain_octave *octave, double x, double y, double z)
{
    x = (x + octave->shift[0]) * octave->frequency;
    y = (y + octave->shift[1]) * octave->frequency;
    z = (z + octave->shift[2]) * octave->rise;
    const int64_t i = (int64_t)floor(x), j = (int64_t)floor(y), k = (int64_t)floor(z);
    const double fx = x - (double)i, fy = y - (double)j, fz = z - (double)k;
    const double u = fade(fx), v = fade(fy);
    double slice[2];
    for (int dk = 0; dk < 2; dk++) {
        const double n00 = corner_3d(octave, i, j, k + dk, fx, fy, fz - dk);
        const double n10 = corner_3d(octave, i + 1, j, k + dk, fx - 1, fy, fz - dk);
        const double n01 = corner_3d(octave, i, j + 1, k + dk, fx, fy - 1, fz - dk);
        const double n11 = corner_3d(octave, i + 1, j + 1, k + dk, fx - 1, fy - 1, fz - dk);
        slice[dk] = lerp(v, lerp(u, n00, n10), lerp(u, n01, n11));
    }
    return lerp(fade(fz), slice[0], slice[1]);
}

double plain_noise_3d(const struct plain_noise *plain, double x, double y, double z)
{
    double sum = 0;
    for (int k = 0; k < plain->octaves; k++)
        sum += plain->octave[k].amplitude * perlin_3d(&plain->octave[k], x, y, z);
    return sum / plain->amplitude;
}

static double space_noise(const struct plain_noise *plain, int number, double x, double y, double z)
{
    double sum = 0;
    for (int k = 0; k < plain->space[number].octaves; k++) {
        const struct plain_octave *octave = &plain->space[number].octave[k];
        sum += octave->amplitude * perlin_3d(octave, x, y, z);
    }
    return sum / plain->space[number].amplitude;
}

static double blocks(int64_t units)
{
    return (double)units / FARLANDS_UNIT;
}

static double opening(double ground, int64_t cover)
{
    return cover == 0 ? 1 : fmin(fmax(ground / blocks(cover), 0), 1);
}

double plain_noise_density(const struct plain_noise *plain, double height, double x, double y,
                           double z)
{
    const struct farlands_volume_params *v = &plain->params.volume;
    const double s = height - z / FARLANDS_UNIT, amplitude = blocks(v->overhangs.amplitude);
    double ground = s;
    if (fabs(s) < amplitude) {
        const double t = s / amplitude, w = 1 - t * t, q = v->overhangs.threshold;
        const double n = space_noise(plain, 0, x, y, z);
        ground += amplitude * w * w * (n - fmin(fmax(n, -q), q));
    }
    double density = ground;
    const double size = v->caverns.size * blocks(v->caverns.noise.wavelength);
    if (size > 0 && ground > (v->caverns.cover ? 0 : -size)) {
        const double scale = blocks(v->caverns.noise.wavelength);
        const double distance = scale * (1 - space_noise(plain, 1, x, y, z));
        density = fmin(density, distance - size * opening(ground, v->caverns.cover));
    }
    const double radius = blocks(v->tunnels.radius);
    if (radius > 0 && ground > (v->tunnels.cover ? 0 : -radius)) {
        const double a = space_noise(plain, 2, x, y, z), b = space_noise(plain, 3, x, y, z);
        const double distance = blocks(v->tunnels.noise.wavelength) * sqrt(a * a + b * b);
        density = fmin(density, distance - radius * opening(ground, v->tunnels.cover));
    }
    return density;
}

/* --- The published map --- */

static double table_dot(const uint8_t *p, int size, int i, int j, double x, double y)
{
    static const double gradient[8][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1},
                                          {1, 0}, {-1, 0}, {0, 1},  {0, -1}};
    const double *g = gradient[p[(i + p[j & 255] + size) & 255] & 7];
    return g[0] * x + g[1] * y;
}

static double table_noise(const uint8_t *p, int size, double x, double y)
{
    const int i = (int)floor(x), j = (int)floor(y);
    const double fx = x - i, fy = y - j;
    const double n00 = table_dot(p, size, i, j, fx, fy);
    const double n10 = table_dot(p, size, i + 1, j, fx - 1, fy);
    const double n01 = table_dot(p, size, i, j + 1, fx, fy - 1);
    const double n11 = table_dot(p, size, i + 1, j + 1, fx - 1, fy - 1);
    const double u = fade(fx);
    return lerp(fade(fy), lerp(u, n00, n10), lerp(u, n01, n11));
}

void plain_noise_map(double map[PLAIN_MAP][PLAIN_MAP])
{
    uint8_t table[256];

    permutation_make(table, 0);
    for (int y = 0; y < PLAIN_MAP; y++)
        for (int x = 0; x < PLAIN_MAP; x++) {
            double sum = 0, amplitude = 1;
            for (int size = PLAIN_MAP / 2; size >= 1; size /= 2) {
                const double n = table_noise(table, size, (double)x / size, (double)y / size);
                sum += amplitude * (1 + n) / 2;
                amplitude /= 2;
            }
            map[y][x] = sum;
        }
}
