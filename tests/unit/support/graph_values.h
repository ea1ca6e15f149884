/* Programs of random graphs, and their values. */
#ifndef FARLANDS_GRAPH_VALUES_H
#define FARLANDS_GRAPH_VALUES_H

#include "noise/evaluate/evaluate.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/random_graph.h"
#include "tests/unit/support/reference_params.h"

static inline struct program *graph_program(const struct random_graph *graph)
{
    struct program *program = NULL;
    struct graph_fault fault = {0, "", ""};
    const int err = program_new(&program, graph->node, graph->count, &fault);
    ck_assert_msg(err == 0, "%s: node %d: %s: %s", graph_text(graph), fault.node, fault.key,
                  fault.text);
    return program;
}

/* An OPERATION of PROGRAM over GRID, without padding. The caller frees it. */
static inline float *graph_values(const struct program *program, const struct kernel *kernel,
                                  struct farlands_scratch *scratch,
                                  const struct farlands_grid *grid, int operation)
{
    const size_t count = (size_t)grid->width * (size_t)grid->height;
    float *out = malloc(count * sizeof *out);
    const struct output output = {operation, out};
    ck_assert_ptr_nonnull(out);
    const int err = evaluate(program, kernel, scratch, grid, &output, 1, (size_t)grid->width);
    must(err == 0, "%d", err);
    return out;
}

/* GRID for the message of a failure. Static text, overwritten by the next call. */
static inline const char *grid_text(const struct farlands_grid *grid)
{
    static char text[160];
    snprintf(text, sizeof text, "%d x %d from (%" PRId64 ", %" PRId64 ") by %" PRId64 "%s",
             grid->width, grid->height, grid->x, grid->y, grid->step,
             grid->band_limit ? ", band-limited" : "");
    return text;
}

/*
 * How many random graphs each test of them takes: the environment variable GRAPHS, or 500; 100 if
 * the machine is slow. As rounds of GRAPHS_PER_ROUND, each a test's process.
 */
enum { GRAPHS_PER_ROUND = 20 };

static inline int graph_rounds(void)
{
    const char *number = getenv("GRAPHS");
    const int graphs = number && *number ? atoi(number) : patience() > 1 ? 100 : 500;
    return (graphs + GRAPHS_PER_ROUND - 1) / GRAPHS_PER_ROUND;
}

#endif
