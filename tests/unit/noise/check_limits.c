/* How much a graph may have altogether, so that its time and memory are bounded. */
#include <errno.h>

#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/random_graph.h"
#include "tests/unit/support/reference_params.h"

/* OCTAVES of noise in fields of up to 64. */
static int add_octaves(struct random_graph *graph, int octaves)
{
    for (int field = 0; octaves > 0; field++, octaves -= 64) {
        graph->noise[field] = reference_params();
        graph->noise[field].wavelength = BLOCKS(1 << 30);
        graph->noise[field].lacunarity = 1.25;
        graph->noise[field].octaves = octaves < 64 ? octaves : 64;
        graph->node[field] = (struct graph_node){
            GRAPH_NOISE, {-1, -1, -1}, {0}, .noise = &graph->noise[field], .curve = NULL};
        graph->count++;
    }
    return graph->count;
}

/* COUNT lattices side by side, or each over the last. */
static void make_lattices(struct graph_node *node, int count, bool nested)
{
    node[0] = (struct graph_node){GRAPH_CONSTANT, {-1, -1, -1}, .number = {1}};
    for (int i = 1; i <= count; i++)
        node[i] = (struct graph_node){
            GRAPH_LATTICE, {nested ? i - 1 : 0, -1, -1}, .number = {FARLANDS_UNIT}};
}

static void expect_fault(const struct graph_node *nodes, int count, const char *key)
{
    struct program *program;
    struct graph_fault fault;
    const int err = program_new(&program, nodes, count, &fault);
    if (!key) {
        ck_assert_msg(err == 0, "%d nodes: %s: %s", count, fault.key, fault.text);
        program_free(program);
        return;
    }
    ck_assert_int_eq(err, -EINVAL);
    ck_assert_str_eq(fault.key, key);
    ck_assert_int_eq(fault.node, count - 1);
}

START_TEST(octaves_are_counted)
{
    struct random_graph graph = {0};
    expect_fault(graph.node, add_octaves(&graph, GRAPH_MAX_OCTAVES), NULL);
    graph.count = 0;
    expect_fault(graph.node, add_octaves(&graph, GRAPH_MAX_OCTAVES + 1), "octaves");
}
END_TEST

START_TEST(lattices_are_counted)
{
    struct graph_node nodes[GRAPH_MAX_LATTICES + 2];
    make_lattices(nodes, GRAPH_MAX_LATTICES + 1, false);
    expect_fault(nodes, GRAPH_MAX_LATTICES + 1, NULL);
    expect_fault(nodes, GRAPH_MAX_LATTICES + 2, "lattice");
    make_lattices(nodes, GRAPH_MAX_DEPTH + 1, true);
    expect_fault(nodes, GRAPH_MAX_DEPTH + 1, NULL);
    expect_fault(nodes, GRAPH_MAX_DEPTH + 2, "lattice");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("limits");
    TCase *tests = suite_case(suite, "limits of a graph");
    tcase_add_test(tests, octaves_are_counted);
    tcase_add_test(tests, lattices_are_counted);
    return suite_run(suite);
}
