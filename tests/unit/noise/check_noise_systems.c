/*
 * The five published noise systems in config/worlds/. Each is transcribed from its own
 * description, in double, and compared with the terrain of its sample world. They share no
 * formula, so a mistake in one is not repeated in another.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "config/daemon/config.h"
#include "noise/exact/lattice.h"
#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_noise.h"
#include "tests/unit/support/reference_params.h"

/* Of systems 1, 2 and 4. */
static int perm[512];

/* The published table, twice in a row; shuffled by Fisher and Yates if the world has a seed. */
static void build_table(uint64_t seed)
{
    for (int i = 0; i < 256; i++)
        perm[i] = reference_permutation[i];
    for (int i = 255; seed != 0 && i > 0; i--) {
        int j = (int)((double)(lattice_random(seed, (uint64_t)i) >> 32) * (i + 1) / 4294967296.0);
        int kept = perm[i];
        perm[i] = perm[j];
        perm[j] = kept;
    }
    for (int i = 0; i < 256; i++)
        perm[256 + i] = perm[i];
}

static double blocks(int64_t units)
{
    return (double)units / 1024;
}

/* A table's world repeats after 256 cells, so that a distant place equals a near one, exactly. */
static int64_t table_place(int64_t units, const struct farlands_params *params)
{
    int64_t period = 256 * params->wavelength, rest = units % period;
    return rest < 0 ? rest + period : rest;
}

/* System 1, OpenClassrooms: eight unit vectors, the table, 3t^2 - 2t^3; `res` pixels per cell. */
static double system_1(const struct farlands_params *params, int64_t x_units, int64_t y_units)
{
    const double unit = 1 / sqrt(2);
    const double gradient[8][2] = {{unit, unit}, {-unit, unit}, {unit, -unit}, {-unit, -unit},
                                   {1, 0},       {-1, 0},       {0, 1},        {0, -1}};
    double res = blocks(params->wavelength);
    double x = blocks(table_place(x_units, params)) / res;
    double y = blocks(table_place(y_units, params)) / res;
    int x0 = (int)floor(x), y0 = (int)floor(y);
    int ii = x0 & 255, jj = y0 & 255;
    int grad1 = perm[ii + perm[jj]] % 8;
    int grad2 = perm[ii + 1 + perm[jj]] % 8;
    int grad3 = perm[ii + perm[jj + 1]] % 8;
    int grad4 = perm[ii + 1 + perm[jj + 1]] % 8;
    double s = gradient[grad1][0] * (x - x0) + gradient[grad1][1] * (y - y0);
    double t = gradient[grad2][0] * (x - (x0 + 1)) + gradient[grad2][1] * (y - y0);
    double u = gradient[grad3][0] * (x - x0) + gradient[grad3][1] * (y - (y0 + 1));
    double v = gradient[grad4][0] * (x - (x0 + 1)) + gradient[grad4][1] * (y - (y0 + 1));
    double cx = 3 * pow(x - x0, 2) - 2 * pow(x - x0, 3);
    double cy = 3 * pow(y - y0, 2) - 2 * pow(y - y0, 3);
    double li1 = s + cx * (t - s), li2 = u + cx * (v - u);
    return li1 + cy * (li2 - li1);
}

/* System 2, "Le bruit de Perlin ameliore": the octave's size in pixels is part of the index. */
static double improved_dot(int i, int j, int size, double x, double y)
{
    static const int vectors[8][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1},
                                      {1, 0}, {-1, 0}, {0, 1},  {0, -1}};
    const int *g = vectors[perm[(i + perm[j & 255] + size) & 255] & 7];
    return g[0] * (x - i) + g[1] * (y - j);
}

static double system_2(const struct farlands_params *params, int64_t x_units, int64_t y_units)
{
    double px = blocks(table_place(x_units, params)), py = blocks(table_place(y_units, params));
    double amplitude = 1, gray = 0, white = 0;
    for (int size = (int)(params->wavelength / 1024); size >= 1; size /= 2) {
        double x = px / size, y = py / size;
        int i = (int)floor(x), j = (int)floor(y);
        double a = x - i, b = y - j;
        double u = a * a * a * (a * (a * 6 - 15) + 10), v = b * b * b * (b * (b * 6 - 15) + 10);
        double n = (1 - u) * (1 - v) * improved_dot(i, j, size, x, y) +
                   u * (1 - v) * improved_dot(i + 1, j, size, x, y) +
                   (1 - u) * v * improved_dot(i, j + 1, size, x, y) +
                   u * v * improved_dot(i + 1, j + 1, size, x, y);
        gray += amplitude * (1 + n) / 2;
        white += amplitude;
        amplitude /= 2;
    }
    return 2 * gray / white - 1;
}

/*
 * Systems 3 and 5 hash corners in ways of their own. Here the library's mix64 does, and each
 * octave's lattice is shifted.
 */
struct mixed_lattice {
    uint64_t key_x, key_y;
    int64_t left, top;           /* cell */
    double in_cell_x, in_cell_y; /* 0 .. 1 */
};

static struct mixed_lattice mixed_lattice(uint64_t seed, int octave, int64_t wavelength, int64_t x,
                                          int64_t y)
{
    uint64_t draw_0 = 4 * (uint64_t)octave;
    x += (int64_t)(lattice_random(seed, draw_0 + 2) % (uint64_t)wavelength);
    y += (int64_t)(lattice_random(seed, draw_0 + 3) % (uint64_t)wavelength);
    int64_t rest_x = (x % wavelength + wavelength) % wavelength;
    int64_t rest_y = (y % wavelength + wavelength) % wavelength;
    return (struct mixed_lattice){
        .key_x = lattice_random(seed, draw_0),
        .key_y = lattice_random(seed, draw_0 + 1),
        .left = (x - rest_x) / wavelength,
        .top = (y - rest_y) / wavelength,
        .in_cell_x = (double)rest_x / (double)wavelength,
        .in_cell_y = (double)rest_y / (double)wavelength,
    };
}

static int mixed_index(const struct mixed_lattice *lattice, int right, int down)
{
    return (int)lattice_corner(lattice_axis(lattice->left + right, lattice->key_x),
                               lattice_axis(lattice->top + down, lattice->key_y));
}

/* System 3, Habr: four axes, the quintic, the sum of octaves divided by the sum of amplitudes. */
static double axis_dot(int index, double x, double y)
{
    switch (index & 3) {
    case 0:
        return x;
    case 1:
        return -x;
    case 2:
        return y;
    default:
        return -y;
    }
}

static double quintic_curve(double t)
{
    return 6 * pow(t, 5) - 15 * pow(t, 4) + 10 * pow(t, 3);
}

static double system_3(const struct farlands_params *params, int64_t x_units, int64_t y_units)
{
    const double persistence = 0.5;
    double amplitude = 1, max = 0, result = 0;
    int64_t wavelength = params->wavelength;
    for (int octave = 0; octave < params->octaves; octave++) {
        struct mixed_lattice at = mixed_lattice(params->seed, octave, wavelength, x_units, y_units);
        double x = at.in_cell_x, y = at.in_cell_y;
        double tx1 = axis_dot(mixed_index(&at, 0, 0), x, y);
        double tx2 = axis_dot(mixed_index(&at, 1, 0), x - 1, y);
        double bx1 = axis_dot(mixed_index(&at, 0, 1), x, y - 1);
        double bx2 = axis_dot(mixed_index(&at, 1, 1), x - 1, y - 1);
        double qx = quintic_curve(x), qy = quintic_curve(y);
        double tx = tx1 + (tx2 - tx1) * qx, bx = bx1 + (bx2 - bx1) * qx;
        max += amplitude;
        result += (tx + (bx - tx) * qy) * amplitude;
        amplitude *= persistence;
        wavelength /= 2;
    }
    return result / max;
}

/* System 4, C# and XNA: improved noise in one, two and three dimensions from one table. */
static double curve_4(double t)
{
    return t * t * t * (t * (t * 6 - 15) + 10);
}

static double mix_4(double t, double a, double b)
{
    return (1 - t) * a + t * b;
}

static double system_4_in_1(const struct farlands_params *params, int64_t x_units)
{
    double x = (double)table_place(x_units, params) / (double)params->wavelength;
    int X = (int)floor(x) & 255;
    x -= floor(x);
    double left = perm[X] & 1 ? -x : x;
    double right = perm[X + 1] & 1 ? -(x - 1) : x - 1;
    return mix_4(curve_4(x), left, right);
}

static double grad_4_in_2(int h, double x, double y)
{
    return ((h & 1) == 0 ? x : -x) + ((h & 2) == 0 ? y : -y);
}

static double system_4_in_2(const struct farlands_params *params, int64_t x_units, int64_t y_units)
{
    double x = (double)table_place(x_units, params) / (double)params->wavelength;
    double y = (double)table_place(y_units, params) / (double)params->wavelength;
    int X = (int)floor(x) & 255, Y = (int)floor(y) & 255;
    x -= floor(x);
    y -= floor(y);
    int A = perm[X] + Y, B = perm[X + 1] + Y;
    double u = curve_4(x), v = curve_4(y);
    return mix_4(
        v, mix_4(u, grad_4_in_2(perm[A], x, y), grad_4_in_2(perm[B], x - 1, y)),
        mix_4(u, grad_4_in_2(perm[A + 1], x, y - 1), grad_4_in_2(perm[B + 1], x - 1, y - 1)));
}

/* The twelve edges of a cube, four of them twice. */
static double grad_4_in_3(int h, double x, double y, double z)
{
    static const int edges[16][3] = {
        {1, 1, 0},  {-1, 1, 0},  {1, -1, 0}, {-1, -1, 0}, {1, 0, 1},  {-1, 0, 1},
        {1, 0, -1}, {-1, 0, -1}, {0, 1, 1},  {0, -1, 1},  {0, 1, -1}, {0, -1, -1},
        {1, 1, 0},  {0, -1, 1},  {-1, 1, 0}, {0, -1, -1},
    };
    const int *edge = edges[h & 15];
    return edge[0] * x + edge[1] * y + edge[2] * z;
}

static double system_4_in_3(const struct farlands_params *params, int64_t x_units, int64_t y_units,
                            int64_t z_units)
{
    double x = (double)table_place(x_units, params) / (double)params->wavelength;
    double y = (double)table_place(y_units, params) / (double)params->wavelength;
    double z = (double)table_place(z_units, params) / (double)params->wavelength;
    int X = (int)floor(x) & 255, Y = (int)floor(y) & 255, Z = (int)floor(z) & 255;
    x -= floor(x);
    y -= floor(y);
    z -= floor(z);
    double layer[2];
    for (int k = 0; k < 2; k++) {
        double row[2];
        for (int j = 0; j < 2; j++) {
            int left = perm[(perm[(perm[X] + Y + j) & 255] + Z + k) & 255];
            int right = perm[(perm[(perm[X + 1] + Y + j) & 255] + Z + k) & 255];
            row[j] = mix_4(curve_4(x), grad_4_in_3(left, x, y - j, z - k),
                           grad_4_in_3(right, x - 1, y - j, z - k));
        }
        layer[k] = mix_4(curve_4(y), row[0], row[1]);
    }
    return mix_4(curve_4(z), layer[0], layer[1]);
}

/* As a map: this library's index is P[X + P[Y]], the tutorial's the same with x and y exchanged. */
static double system_4(const struct farlands_params *params, int64_t x_units, int64_t y_units)
{
    return system_4_in_2(params, y_units, x_units);
}

/*
 * System 5, C++ and SFML: a gradient is an angle, hashed from the corner. An index 0 .. 255
 * stands for one of 32 angles in an eighth of a turn, each in the middle of its step, mirrored
 * in the diagonal, in y and in x.
 */
static double angle_dot(int index, double x, double y)
{
    double turns = (index % 32 + 0.5) / 256;
    if (index / 32 % 2)
        turns = 0.25 - turns;
    if (index / 64 % 2)
        turns = 0.5 - turns;
    if (index / 128 % 2)
        turns = -turns;
    return cos(2 * acos(-1) * turns) * x + sin(2 * acos(-1) * turns) * y;
}

static double smooth(double from, double to, double t)
{
    return from + (to - from) * t * t * (3 - 2 * t);
}

static double system_5(const struct farlands_params *params, int64_t x_units, int64_t y_units)
{
    double sum = 0, sum_of_amplitudes = 0;
    for (int octave = 0; octave < 12; octave++) {
        /* 409600 units halve evenly to 2^-11 of them. */
        int64_t grid = params->wavelength >> octave;
        struct mixed_lattice at = mixed_lattice(params->seed, octave, grid, x_units, y_units);
        double x = at.in_cell_x, y = at.in_cell_y;
        double north = smooth(angle_dot(mixed_index(&at, 0, 0), x, y),
                              angle_dot(mixed_index(&at, 1, 0), x - 1, y), x);
        double south = smooth(angle_dot(mixed_index(&at, 0, 1), x, y - 1),
                              angle_dot(mixed_index(&at, 1, 1), x - 1, y - 1), x);
        sum += smooth(north, south, y) / (double)(1 << octave);
        sum_of_amplitudes += 1 / (double)(1 << octave);
    }
    return sum / sum_of_amplitudes;
}

/* The metres that each description makes of its noise, if the curve of the sample says the same. */
static double altitude(double n)
{
    return 100 * n;
}

static double contrast(double n)
{
    return 400 * fmax(-1, fmin(1, 1.2 * n));
}

static const struct {
    const char *file;
    double (*noise)(const struct farlands_params *params, int64_t x, int64_t y);
    double (*metres)(double noise);
    double metres_error; /* a curve with three decimals: 0.833 for 1 / 1.2 is 0.04 % off */
} systems[] = {
    {"config/worlds/classic.yaml", system_1, altitude, 0},
    {"config/worlds/improved.yaml", system_2, NULL, 0},
    {"config/worlds/octaves.yaml", system_3, NULL, 0},
    {"config/worlds/tables.yaml", system_4, NULL, 0},
    {"config/worlds/angles.yaml", system_5, contrast, 400 * 0.0005},
};

/* The first world of the configuration FILE, and its table. */
static struct farlands_params sample(const char *file)
{
    struct config *config = NULL;
    const struct config_layer none = {0};
    struct config_error error = {0};
    ck_assert_msg(config_load(&config, file, &none, &error) == 0, "%s", error.text);
    struct farlands_params params = config->worlds[0].terrain;
    config_free(config);
    build_table(params.seed);
    return params;
}

static double metres_on_curve(const struct farlands_params *params, double n)
{
    const struct farlands_knot *k = params->elevation;
    if (n <= (double)k[0].noise)
        return k[0].metres;
    for (int i = 1; i < params->knots; i++) {
        double west = k[i - 1].noise, east = k[i].noise;
        if (n <= east)
            return ((east - n) * k[i - 1].metres + (n - west) * k[i].metres) / (east - west);
    }
    return k[params->knots - 1].metres;
}

/*
 * Octaves in float lie within 2^-18 of the formula: an octave rounds about ten times values up
 * to 2, and the quintic's bracket loses 12 * 2^-24 before it is multiplied by differences of up
 * to 2. Twelve additions cost less than 2^-20. The curve multiplies that by its slope and rounds
 * three numbers of metres.
 */
static double tolerance(const struct farlands_params *params)
{
    double slope = 0, highest = 0;
    const struct farlands_knot *k = params->elevation;
    for (int i = 0; i < params->knots; i++)
        highest = fmax(highest, fabs((double)k[i].metres));
    for (int i = 1; i < params->knots; i++)
        slope = fmax(slope, fabs((double)k[i].metres - k[i - 1].metres) /
                                ((double)k[i].noise - k[i - 1].noise));
    return slope * (0x1p-18 + 0x1p-20) + 3 * 0x1p-24 * highest;
}

/* Centers of the places that are compared, in units: near, negative, and far. */
static const int64_t middles[] = {
    0,
    BLOCKS(1000) + 123,
    -BLOCKS(1000) - 321,
    BLOCKS(INT64_C(1) << 31) + 7,
    -BLOCKS(INT64_C(1) << 31) - 77,
    BLOCKS(INT64_C(1) << 40) + 777,
    -BLOCKS(INT64_C(1) << 40) + 5,
    FARLANDS_LIMIT - BLOCKS(1000),
    -FARLANDS_LIMIT + BLOCKS(1000),
};

enum { PLACES = 40000 };

static int64_t place(struct draws *draws)
{
    return middles[draw_between(draws, 0, LENGTH(middles) - 1)] +
           draw_between(draws, -BLOCKS(1000), BLOCKS(1000));
}

START_TEST(samples_are_their_systems)
{
    struct farlands_params params = sample(systems[_i].file);
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct draws draws = {950, 0};
    double accepted = tolerance(&params);
    for (int n = 0; n < PLACES; n++) {
        int64_t x = place(&draws), y = place(&draws);
        double height = terrain_height(terrain, x, y);
        double noise = systems[_i].noise(&params, x, y);
        double expected = metres_on_curve(&params, noise);
        REQUIRE(fabs(height - expected) <= accepted,
                "%s: at (%" PRId64 ", %" PRId64 ") %.9g, formula %.9g", systems[_i].file, x, y,
                height, expected);
        if (systems[_i].metres)
            REQUIRE(fabs(systems[_i].metres(noise) - height) <= accepted + systems[_i].metres_error,
                    "%s: noise %.9g is %.9g m, described as %.9g m", systems[_i].file, noise,
                    height, systems[_i].metres(noise));
    }
    terrain_free(terrain);
}
END_TEST

/* In double: a few dozen roundings of numbers up to 4. */
static const double exact = 0x1p-46;

START_TEST(tables_in_one_and_three_dimensions)
{
    struct farlands_params params = sample("config/worlds/tables.yaml");
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct draws draws = {951, 0};
    for (int n = 0; n < PLACES; n++) {
        int64_t x = place(&draws), y = place(&draws), z = place(&draws);
        double one = terrain_noise1(terrain, x);
        double three = terrain_noise3(terrain, x, y, z);
        REQUIRE(fabs(one - system_4_in_1(&params, x)) <= exact,
                "1-D at %" PRId64 ": %.17g, formula %.17g", x, one, system_4_in_1(&params, x));
        REQUIRE(fabs(three - system_4_in_3(&params, x, y, z)) <= exact,
                "3-D at (%" PRId64 ", %" PRId64 ", %" PRId64 "): %.17g, formula %.17g", x, y, z,
                three, system_4_in_3(&params, x, y, z));
        REQUIRE(fabs(terrain_noise2(terrain, y, x) - system_4_in_2(&params, x, y)) <= exact,
                "2-D at (%" PRId64 ", %" PRId64 "): %.17g, formula %.17g", x, y,
                terrain_noise2(terrain, y, x), system_4_in_2(&params, x, y));
    }
    terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_systems");
    TCase *systems_case = suite_case(suite, "systems");
    tcase_add_loop_test(systems_case, samples_are_their_systems, 0, LENGTH(systems));
    tcase_add_test(systems_case, tables_in_one_and_three_dimensions);

    return suite_run(suite);
}
