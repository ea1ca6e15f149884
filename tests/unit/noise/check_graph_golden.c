/*
 * Hashes of values of graphs. If a row changes, a node computes something else, in worlds that
 * people already use. If that is intended, FARLANDS_GENERATOR must change, too, and what documents
 * of older generators say must still be computed as before. Never edit a row alone.
 */
#include <check.h>

#include "tests/unit/support/graph_values.h"
#include "tests/unit/support/sample_graphs.h"

/* FNV-1a, 64 bits, over the floats' bits, least significant byte first. */
static uint64_t hash_values(uint64_t hash, const float *values, int count)
{
    for (int i = 0; i < count; i++)
        for (int shift = 0; shift < 32; shift += 8)
            hash = (hash ^ (float_bits(values[i]) >> shift & 255)) * UINT64_C(0x100000001b3);
    return hash;
}

static const struct row {
    const char *graph;
    uint64_t hash;
} rows[] = {
    {"noise, fbm", UINT64_C(0xf5baec5e784c4aa1)},
    {"noise, billow", UINT64_C(0xceb46702c6583453)},
    {"noise, ridged", UINT64_C(0xb649857a4db28a1e)},
    {"noise, hybrid", UINT64_C(0x777d5ed24ff87957)},
    {"noise, simplex", UINT64_C(0xe0ed83c3175673e0)},
    {"noise, cellular", UINT64_C(0xb5f36c1a55262294)},
    {"noise, value", UINT64_C(0x2a3d37634dee274e)},
    {"noise, moved", UINT64_C(0x7f05ff99261e89e1)},
    {"noise, moved by fine noise", UINT64_C(0x76bc8fdb3c38804c)},
    {"subtract", UINT64_C(0xba863be18313543f)},
    {"multiply", UINT64_C(0xe9f2d9990f897154)},
    {"min", UINT64_C(0x8d1feafcfc275f32)},
    {"max", UINT64_C(0x2e5decc14db8fe61)},
    {"smooth_min", UINT64_C(0x057642734ca1ee5a)},
    {"smooth_max", UINT64_C(0x61135b9d6f047f1f)},
    {"abs", UINT64_C(0x2672bd120d6fa1a1)},
    {"clamp", UINT64_C(0x7f8b5aaa240751cb)},
    {"mix", UINT64_C(0xd87a05a5827545db)},
    {"spline, linear", UINT64_C(0x84a877d5ba455110)},
    {"spline, cubic", UINT64_C(0xa6c60e6391012780)},
    {"step", UINT64_C(0xf7527115e8b3799c)},
    {"ridge", UINT64_C(0x29d7b6167602d1c5)},
    {"waves", UINT64_C(0x2178c73a67d94300)},
    {"terrace", UINT64_C(0xda1089810d618c62)},
    {"lattice", UINT64_C(0x39a257ceb70ad0b3)},
    {"lattice of fine noise", UINT64_C(0xfa23c04a8fa93735)},
    {"slope_x", UINT64_C(0xcc549832ab3eb18b)},
    {"damped", UINT64_C(0x08871054ec59dd57)},
    {"gullies", UINT64_C(0x6db15b962fde02b3)},
    {"erode", UINT64_C(0xb5fd8c5b3e3d7241)},
    {"erode of fine hills", UINT64_C(0x10f80a83e32e9e2c)},
    {"mountains", UINT64_C(0x61e70b65a6db92b7)},
    {"erode, lacunarity 1.5", UINT64_C(0xdcc1bfe0b4d68bee)},
    {"biome", UINT64_C(0x2c3415e148d4c95c)},
    {"drain", UINT64_C(0x8260e903cec83bdc)},
    {"drainage", UINT64_C(0xcd659ea033241262)},
    {"base level", UINT64_C(0xb8d64011f38698fc)},
    {"bank", UINT64_C(0x868385b418a55ffe)},
    {"water", UINT64_C(0x94512ab65b109206)},
    {"river", UINT64_C(0xad21980a891dc5a4)},
    {"channel", UINT64_C(0x66b235d818bd90a4)},
    {"bank of a drainage", UINT64_C(0x3e6a0820e673385d)},
    {"channel of a drainage", UINT64_C(0x14f59474b744f153)},
    {"channel of eroded valleys", UINT64_C(0xe488f2df8aa1ea76)},
};

/* Blocks, a large part of the hills; fine samples far out; a picture of octaves that fade. */
static const struct farlands_grid grids[] = {
    {BLOCKS(-300), BLOCKS(777), BLOCKS(1), 100, 20, false},
    {BLOCKS(-90000), BLOCKS(5000), BLOCKS(111), 100, 20, false},
    {(INT64_C(1) << 50) + 7, -(INT64_C(1) << 49), 300, 100, 20, false},
    {0, -5, BLOCKS(150) + 1, 100, 20, true},
};

START_TEST(values_stay)
{
    const struct row *row = &rows[_i];
    struct program *program = sample_program(row->graph);
    struct farlands_scratch *scratch = reference_scratch();
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int g = 0; g < LENGTH(grids); g++) {
        float *values = graph_values(program, kernel_choose(), scratch, &grids[g],
                                     program->place[program->count - 1]);
        hash = hash_values(hash, values, grids[g].width * grids[g].height);
        free(values);
    }
    must(hash == row->hash, "%s: 0x%016" PRIx64 "; expected 0x%016" PRIx64, row->graph, hash,
         row->hash);
    farlands_scratch_free(scratch);
    program_free(program);
}
END_TEST

/* Every kind of node, and every sample, is pinned. */
START_TEST(no_kind_is_forgotten)
{
    bool pinned[GRAPH_KINDS] = {false};
    ck_assert_int_eq(LENGTH(rows), LENGTH(sample_graphs));
    for (int i = 0; i < LENGTH(rows); i++) {
        struct program *program = sample_program(rows[i].graph);
        ck_assert_str_eq(rows[i].graph, sample_graphs[i].name);
        for (int k = 0; k < program->count; k++)
            pinned[program->operation[k].kind] = true;
        program_free(program);
    }
    for (int kind = 0; kind < GRAPH_KINDS; kind++)
        must(pinned[kind], "%s has no row with a hash", graph_kind_name((enum graph_kind)kind));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_golden");
    TCase *tests = suite_case(suite, "golden");
    tcase_add_loop_test(tests, values_stay, 0, LENGTH(rows));
    tcase_add_test(tests, no_kind_is_forgotten);
    return suite_run(suite);
}
