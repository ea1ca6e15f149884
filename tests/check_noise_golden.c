/*
 * Hashes of heights. A changed row means that mountains have moved in worlds
 * that people already use: if that is intended, FARLANDS_GENERATOR must change
 * with it, so that caches and validators know. Never edit a row alone.
 */
#include <check.h>
#include <stdlib.h>

#include "noise/farlands.h"
#include "tests/fixtures.h"
#include "tests/reference_params.h"

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

enum { MIX64, PERMUTATION, SALTED }; /* of hashings[] */
enum { NARROW = 1, IRREGULAR = 2, BAND_LIMIT = 4 };

/* The default world with other options: 256 x 16 samples from (x, y). */
static const struct {
    const char *name;
    uint64_t seed;
    enum farlands_gradients gradients;
    enum farlands_fade fade;
    int hashing, flags;
    int64_t x, y, step;
    uint64_t hash;
} rows[] = {
    {"default", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, 0, 0, 1024,
     UINT64_C(0x0dc69a0e28d7b79a)},
    {"default, blocks apart", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, -131072, 7, 4096,
     UINT64_C(0x92c169092879bfbb)},
    {"axis4", 1, FARLANDS_AXIS4, FARLANDS_QUINTIC, MIX64, 0, 5000, 5000, 65536,
     UINT64_C(0xc05d62605b0c88a9)},
    {"diagonal4", 1, FARLANDS_DIAGONAL4, FARLANDS_QUINTIC, MIX64, 0, 5000, 5000, 65536,
     UINT64_C(0x3020efbaeb11c01d)},
    {"unit8", 1, FARLANDS_UNIT8, FARLANDS_QUINTIC, MIX64, 0, 5000, 5000, 65536,
     UINT64_C(0x0dfbc7fe8d094bfa)},
    {"integer8", 1, FARLANDS_INTEGER8, FARLANDS_QUINTIC, MIX64, 0, 5000, 5000, 65536,
     UINT64_C(0xfb1884fbfdf94b52)},
    {"linear", 3, FARLANDS_UNIT256, FARLANDS_LINEAR, MIX64, 0, 12345, -6789, 333,
     UINT64_C(0xeef225b77ffe5453)},
    {"cubic", 3, FARLANDS_UNIT256, FARLANDS_CUBIC, MIX64, 0, 12345, -6789, 333,
     UINT64_C(0xd09a4c85aa4a8b47)},
    {"permutation, seed 0", 0, FARLANDS_INTEGER8, FARLANDS_QUINTIC, PERMUTATION, NARROW, 9, 9,
     16384, UINT64_C(0xb6346117fca2d98c)},
    {"permutation, seed 7", 7, FARLANDS_UNIT256, FARLANDS_CUBIC, PERMUTATION, NARROW, 9, 9, 16384,
     UINT64_C(0x2488a07944a09d8e)},
    {"octave_salt", 0, FARLANDS_INTEGER8, FARLANDS_QUINTIC, SALTED, NARROW, 9, 9, 16384,
     UINT64_C(0x6e0434595d3d0e08)},
    {"lacunarity 1.9", 4, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, IRREGULAR, -77, -777, 1500,
     UINT64_C(0x39d6b1e90960b2bc)},
    {"narrow octaves only", 5, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, NARROW, -77, 777, 5,
     UINT64_C(0x10919c69b929c498)},
    {"unit by unit", UINT64_MAX, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, -100, -8, 1,
     UINT64_C(0x2629d90d3ed06c33)},
    {"north-west", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, -BLOCKS(3000000) - 11,
     -BLOCKS(9000000) - 13, 1024, UINT64_C(0x59e9bda34ee510cd)},
    {"2^40 blocks out", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, INT64_C(1) << 50,
     -(INT64_C(1) << 50), 1024, UINT64_C(0x187825ed372c2dc9)},
    {"at the limit", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, -FARLANDS_LIMIT,
     FARLANDS_LIMIT - 16 * 1024, 1024, UINT64_C(0x1df98f05953c00ea)},
    {"zoomed out", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, 0, 0, 0, INT64_C(1) << 40,
     UINT64_C(0x7c185adeff1a4758)},
    {"zoomed out, band limit", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, BAND_LIMIT,
     -(INT64_C(1) << 33), 0, INT64_C(1) << 26, UINT64_C(0x2935a88e8a4bfe1e)},
    {"band limit between octaves", 2, FARLANDS_UNIT256, FARLANDS_QUINTIC, MIX64, BAND_LIMIT, 0, 0,
     12000, UINT64_C(0x0405504f02a2ca42)},
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
    ck_assert_int_eq(farlands_heights(terrain, scratch, &grid, heights, 256), 0);
    uint64_t hash = hash_heights(heights, LENGTH(heights));
    REQUIRE(hash == rows[_i].hash, "%s: 0x%016" PRIx64, rows[_i].name, hash);
    farlands_scratch_free(scratch);
    farlands_terrain_free(terrain);
}
END_TEST

/* The hash itself, by its authors' vectors: "" and four bytes "foob" (as one float's bits). */
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
    ck_assert_int_eq(FARLANDS_GENERATOR, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_golden");
    TCase *golden = tcase_create("golden");
    tcase_add_test(golden, hash_is_fnv);
    tcase_add_test(golden, generator_is_the_one_hashed);
    tcase_add_loop_test(golden, heights_stay, 0, LENGTH(rows));
    suite_add_tcase(suite, golden);

    return suite_run(suite);
}
