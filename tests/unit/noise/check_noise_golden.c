/*
 * Hashes of heights. If a row changes, mountains have moved in worlds that people already use.
 * If that is intended, FARLANDS_GENERATOR must change, too, for the sake of caches and
 * validators. Never edit a row alone.
 */
#include <check.h>
#include <stdlib.h>

#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_graph.h"
#include "tests/unit/support/reference_params.h"

/* FNV-1a, 64 bits, over the floats' bits, least significant byte first. */
static uint64_t hash_heights(const float *heights, int count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < count; i++) {
        uint32_t bits = float_bits(heights[i]);
        for (int shift = 0; shift < 32; shift += 8) {
            hash ^= bits >> shift & 255;
            hash *= UINT64_C(0x100000001b3);
        }
    }
    return hash;
}

/* The default world: continents of 2^20 blocks, octaves down to 1 block, a curve with a coast. */
static struct farlands_params world(void)
{
    return (struct farlands_params){
        .seed = 2,
        .gradients = FARLANDS_UNIT256,
        .fade = FARLANDS_QUINTIC,
        .hash = FARLANDS_MIX64,
        .fractal = FARLANDS_FBM,
        .offset = 1,
        .gain = 2,
        .wavelength = BLOCKS(1 << 20),
        .octaves = 21,
        .persistence = 0.55,
        .lacunarity = 2,
        .elevation = {{-0.45f, -6500},
                      {-0.20f, -3800},
                      {-0.10f, -1400},
                      {-0.04f, -220},
                      {0, 0},
                      {0.02f, 70},
                      {0.07f, 300},
                      {0.14f, 800},
                      {0.21f, 1700},
                      {0.30f, 3300},
                      {0.45f, 6000}},
        .knots = 11,
    };
}

enum { MIX64, PERMUTATION, SALTED }; /* row of hashings[] */
enum { NARROW = 1, IRREGULAR = 2, BAND_LIMIT = 4, WARP = 8, PERIOD = 16 };

/* The default world with other options: 256 x 16 samples from (x, y). */
static const struct {
    const char *name;
    uint64_t seed;
    enum farlands_gradients gradients;
    enum farlands_fade fade;
    int hashing, flags;
    int64_t x, y, step;
    uint64_t hash;
    enum farlands_basis basis;
    enum farlands_fractal fractal; /* 0: fbm */
} rows[] = {
    {"default", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, 0, 0, 1024,
     UINT64_C(0x15771a55f05a950e), FARLANDS_PERLIN, 0},
    {"default, blocks apart", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, -131072, 7, 4096,
     UINT64_C(0x9ebd79486380ed73), FARLANDS_PERLIN, 0},
    {"axis4", 1, FARLANDS_AXIS4, FARLANDS_QUINTIC, MIX64, 0, 5000, 5000, 65536,
     UINT64_C(0xf200d7a902f48703), FARLANDS_PERLIN, 0},
    {"diagonal4", 1, FARLANDS_DIAGONAL4, FARLANDS_QUINTIC, MIX64, 0, 5000, 5000, 65536,
     UINT64_C(0xb7c70dce98afee48), FARLANDS_PERLIN, 0},
    {"unit8", 1, FARLANDS_UNIT8, FARLANDS_QUINTIC, MIX64, 0, 5000, 5000, 65536,
     UINT64_C(0xc074ba38f4521362), FARLANDS_PERLIN, 0},
    {"integer8", 1, FARLANDS_INTEGER8, FARLANDS_QUINTIC, MIX64, 0, 5000, 5000, 65536,
     UINT64_C(0x8f80b55daa8d55a1), FARLANDS_PERLIN, 0},
    {"linear", 3, FARLANDS_UNIT256, FARLANDS_LINEAR, MIX64, 0, 12345, -6789, 333,
     UINT64_C(0xc846a6a85ab7e6f5), FARLANDS_PERLIN, 0},
    {"cubic", 3, FARLANDS_UNIT256, FARLANDS_CUBIC, MIX64, 0, 12345, -6789, 333,
     UINT64_C(0xaa2c5a77917b13b1), FARLANDS_PERLIN, 0},
    {"permutation, seed 0", 0, FARLANDS_INTEGER8, FARLANDS_QUINTIC, PERMUTATION, NARROW, 9, 9,
     16384, UINT64_C(0x7fcccd2c11576769), FARLANDS_PERLIN, 0},
    {"permutation, seed 7", 7, FARLANDS_UNIT256, FARLANDS_CUBIC, PERMUTATION, NARROW, 9, 9, 16384,
     UINT64_C(0x234f34f8dc12e0b3), FARLANDS_PERLIN, 0},
    {"octave_salt", 0, FARLANDS_INTEGER8, FARLANDS_QUINTIC, SALTED, NARROW, 9, 9, 16384,
     UINT64_C(0xf21bf343445c5ae8), FARLANDS_PERLIN, 0},
    {"lacunarity 1.9", 4, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, IRREGULAR, -77, -777, 1500,
     UINT64_C(0x918296d8a3aa7451), FARLANDS_PERLIN, 0},
    {"narrow octaves only", 5, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, NARROW, -77, 777, 5,
     UINT64_C(0x3a7bd48cada627ab), FARLANDS_PERLIN, 0},
    {"unit by unit", UINT64_MAX, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, -100, -8, 1,
     UINT64_C(0x0a7e9a518cca52e7), FARLANDS_PERLIN, 0},
    {"north-west", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, -BLOCKS(3000000) - 11,
     -BLOCKS(9000000) - 13, 1024, UINT64_C(0x7fb84ea6f77dbedf), FARLANDS_PERLIN, 0},
    {"2^40 blocks out", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, INT64_C(1) << 50,
     -(INT64_C(1) << 50), 1024, UINT64_C(0xa0deb8d442adc125), FARLANDS_PERLIN, 0},
    {"at the limit", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, -FARLANDS_LIMIT,
     FARLANDS_LIMIT - 16 * 1024, 1024, UINT64_C(0x196faaf1673ce008), FARLANDS_PERLIN, 0},
    {"zoomed out", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, 0, 0, INT64_C(1) << 40,
     UINT64_C(0x1c195a00c178aed5), FARLANDS_PERLIN, 0},
    {"zoomed out, band limit", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, BAND_LIMIT,
     -(INT64_C(1) << 33), 0, INT64_C(1) << 26, UINT64_C(0x537801138bd9e187), FARLANDS_PERLIN, 0},
    {"band limit between octaves", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, BAND_LIMIT, 0, 0,
     12000, UINT64_C(0x8224f86863b7ad3b), FARLANDS_PERLIN, 0},
    {"simplex", 6, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, -5000, 5000, 1024,
     UINT64_C(0xe0958cd480556e3f), FARLANDS_SIMPLEX, 0},
    {"simplex, permutation", 6, FARLANDS_UNIT8, FARLANDS_QUINTIC, PERMUTATION, NARROW, 99, -5, 777,
     UINT64_C(0xae23142aef49a546), FARLANDS_SIMPLEX, 0},
    {"simplex, at the limit", 6, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0,
     FARLANDS_LIMIT - BLOCKS(300), -FARLANDS_LIMIT, 1024, UINT64_C(0xda0c36f8de6c68fd),
     FARLANDS_SIMPLEX, 0},
    {"cellular", 7, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, -5000, 5000, 4096,
     UINT64_C(0x9fdc93b18eb1bfeb), FARLANDS_CELLULAR, 0},
    {"cellular, zoomed out", 7, FARLANDS_UNIT256, FARLANDS_QUINTIC, SALTED, NARROW, -5, 5,
     BLOCKS(512), UINT64_C(0xb07684cfd2aa0c33), FARLANDS_CELLULAR, 0},
    {"value", 8, FARLANDS_UNIT256, FARLANDS_CUBIC, MIX64, 0, -5000, 5000, 512,
     UINT64_C(0x0351dec6f301cc55), FARLANDS_VALUE, 0},
    {"billow", 9, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, 50000, -7, 2048,
     UINT64_C(0xee7f78f0aa5d2325), FARLANDS_PERLIN, FARLANDS_BILLOW},
    {"ridged", 9, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, 50000, -7, 2048,
     UINT64_C(0x1f15a48df0a22325), FARLANDS_PERLIN, FARLANDS_RIDGED},
    {"ridged, band limit", 9, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, BAND_LIMIT, 50000, -7,
     20480, UINT64_C(0x1f15a48df0a22325), FARLANDS_PERLIN, FARLANDS_RIDGED},
    {"hybrid of simplex", 9, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, NARROW, 50000, -7, 2048,
     UINT64_C(0xc29e11f05a50957d), FARLANDS_SIMPLEX, FARLANDS_HYBRID},
    {"warp", 10, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, WARP, -3, -70000, 1024,
     UINT64_C(0x564c7732504ecc09), FARLANDS_PERLIN, 0},
    {"warp, permutation, ridged", 10, FARLANDS_INTEGER8, FARLANDS_QUINTIC, SALTED, WARP | NARROW,
     -3, -70000, 1024, UINT64_C(0x1f15a48df0a22325), FARLANDS_PERLIN, FARLANDS_RIDGED},
    {"warp of cells, far out", 10, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, WARP,
     INT64_C(1) << 55, -(INT64_C(1) << 51), 1024, UINT64_C(0xbeb1a578c06baee7), FARLANDS_CELLULAR,
     0},
    {"period", 11, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, PERIOD, -BLOCKS(100), BLOCKS(1 << 21),
     1024, UINT64_C(0xfb892a037e054ce6), FARLANDS_PERLIN, 0},
    {"period and warp", 11, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, PERIOD | WARP, -BLOCKS(100),
     0, 1024, UINT64_C(0xee7f78f0aa5d2325), FARLANDS_VALUE, 0},
};

START_TEST(heights_stay)
{
    struct farlands_params params = world();
    params.seed = rows[_i].seed;
    params.gradients = rows[_i].gradients;
    params.fade = rows[_i].fade;
    params.hash = hashings[rows[_i].hashing].hash;
    params.octave_salt = hashings[rows[_i].hashing].octave_salt;
    if (rows[_i].flags & NARROW) {
        params.wavelength = BLOCKS(1024);
        params.octaves = 11;
    }
    if (rows[_i].flags & IRREGULAR)
        params.lacunarity = 1.9;
    params.basis = rows[_i].basis;
    params.fractal = rows[_i].fractal ? rows[_i].fractal : FARLANDS_FBM;
    if (rows[_i].flags & WARP) {
        params.warp.amplitude = BLOCKS(300);
        params.warp.wavelength = BLOCKS(1024);
    }
    if (rows[_i].flags & PERIOD)
        params.period = BLOCKS(1 << 21);
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    struct farlands_grid grid = {
        .x = rows[_i].x,
        .y = rows[_i].y,
        .step = rows[_i].step,
        .width = 256,
        .height = 16,
        .band_limit = rows[_i].flags & BAND_LIMIT,
    };
    static float heights[256 * 16];
    ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, heights, 256), 0);
    uint64_t hash = hash_heights(heights, LENGTH(heights));
    REQUIRE(hash == rows[_i].hash, "%s: 0x%016" PRIx64 "; expected 0x%016" PRIx64, rows[_i].name,
            hash, rows[_i].hash);
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

/* Noise in space: 40 x 5 x 6 samples. */
static const struct {
    const char *name;
    enum farlands_hash hash;
    enum farlands_fractal fractal;
    int64_t wavelength, step;
    uint64_t hash_of_heights;
} volumes[] = {
    {"fine", FARLANDS_MIX64, FARLANDS_FBM, BLOCKS(64), 1024, UINT64_C(0xe1f1a5bff49009a4)},
    {"coarse", FARLANDS_MIX64, FARLANDS_FBM, BLOCKS(64), BLOCKS(50), UINT64_C(0x07a2ce3de6640c84)},
    {"permutation", FARLANDS_PERMUTATION, FARLANDS_RIDGED, BLOCKS(32), 1000,
     UINT64_C(0xa8581f64280cf377)},
};

START_TEST(volumes_stay)
{
    struct farlands_params params = world();
    params.hash = volumes[_i].hash;
    params.fractal = volumes[_i].fractal;
    params.wavelength = volumes[_i].wavelength;
    params.octaves = 5;
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    const struct farlands_box box = {-7000, 8000, -BLOCKS(3), volumes[_i].step, 40, 5, 6};
    static float noise[40 * 5 * 6];
    ck_assert_int_eq(terrain_volume(terrain, scratch, &box, noise), 0);
    uint64_t hash = hash_heights(noise, LENGTH(noise));
    REQUIRE(hash == volumes[_i].hash_of_heights,
            "volume %s: 0x%016" PRIx64 "; expected 0x%016" PRIx64, volumes[_i].name, hash,
            volumes[_i].hash_of_heights);
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

/* Density around the surface: 40 x 5 x 60 samples. */
static const struct {
    const char *name;
    enum farlands_hash hash;
    int64_t x, y, step;
    uint64_t hash_of_density;
    bool graph;
} densities[] = {
    {"blocks", FARLANDS_MIX64, -7000, 8000, 1024, UINT64_C(0x89085bce63ec8c9d), false},
    {"fine, far out", FARLANDS_MIX64, INT64_C(1) << 60, -FARLANDS_LIMIT, 300,
     UINT64_C(0x4b7580762896a353), false},
    {"coarse, permutation", FARLANDS_PERMUTATION, 0, 0, BLOCKS(8), UINT64_C(0x4dc46eb3fbba582c),
     false},
    {"blocks, a graph", FARLANDS_MIX64, -7000, 8000, 1024, UINT64_C(0x76ab46d9232ca05f), true},
    {"fine, far out, a graph", FARLANDS_MIX64, INT64_C(1) << 60, -FARLANDS_LIMIT, 300,
     UINT64_C(0xb500a3715f6bd0fd), true},
    {"coarse, a graph", FARLANDS_PERMUTATION, 0, 0, BLOCKS(8), UINT64_C(0x24a936557e257838), true},
};

START_TEST(densities_stay)
{
    const struct farlands_space_noise noise = {BLOCKS(64), 3, 0.5, 2, 2};
    struct farlands_params params = world();
    params.hash = densities[_i].hash;
    params.volume = (struct farlands_volume_params){
        .overhangs = {BLOCKS(30), 0.05, noise},
        .caverns = {0.75, BLOCKS(10), noise},
        .tunnels = {BLOCKS(5), 0, noise},
    };
    struct farlands_terrain *terrain =
        densities[_i].graph ? reference_graph(&params) : reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    const int64_t surface = (int64_t)terrain_height(terrain, densities[_i].x, densities[_i].y);
    const int64_t step = densities[_i].step;
    const struct farlands_box box = {
        densities[_i].x, densities[_i].y, BLOCKS(surface) - 40 * step, step, 40, 5, 60};
    static float density[40 * 5 * 60];
    ck_assert_int_eq(terrain_density(terrain, scratch, &box, density), 0);
    uint64_t hash = hash_heights(density, LENGTH(density));
    REQUIRE(hash == densities[_i].hash_of_density,
            "density %s: 0x%016" PRIx64 "; expected 0x%016" PRIx64, densities[_i].name, hash,
            densities[_i].hash_of_density);
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

/* The hash itself, against test vectors of its authors: "" and the four bytes "foob" as one float.
 * */
START_TEST(hash_is_fnv)
{
    float foob;
    const uint32_t bits = UINT32_C(0x626f6f66);
    memcpy(&foob, &bits, sizeof foob);
    ck_assert_uint_eq(hash_heights(NULL, 0), UINT64_C(0xcbf29ce484222325));
    ck_assert_uint_eq(hash_heights(&foob, 1), UINT64_C(0xdd120e790c2512af));
}
END_TEST

START_TEST(generator_is_the_one_hashed)
{
    ck_assert_int_eq(FARLANDS_GENERATOR, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_golden");
    TCase *golden = tcase_create("golden");
    tcase_add_test(golden, hash_is_fnv);
    tcase_add_test(golden, generator_is_the_one_hashed);
    tcase_add_loop_test(golden, heights_stay, 0, LENGTH(rows));
    tcase_add_loop_test(golden, volumes_stay, 0, LENGTH(volumes));
    tcase_add_loop_test(golden, densities_stay, 0, LENGTH(densities));
    suite_add_tcase(suite, golden);

    return suite_run(suite);
}
