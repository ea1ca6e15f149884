#include "relevance.h"

#include <string.h>

#include "noise/evaluate/guards.h"

struct relevance relevance_all(const struct domain *domain)
{
    struct relevance relevance = {.spared = {false}, .zero = {false}};
    memcpy(relevance.reads, domain->reads, sizeof relevance.reads);
    return relevance;
}

void relevance_drop(struct relevance *relevance, const struct program *program,
                    const struct domain *domain, int zero)
{
    for (int k = domain->guarded[zero]; k >= 0; k = domain->next_guarded[k]) {
        const struct operation *o = &program->operation[k];
        if (relevance->reads[k] == 0)
            continue;
        relevance->spared[k] = true;
        for (int i = 0; i < o->inputs; i++)
            if (!guards_reads(o, domain->guard[k], i))
                guards_release(program, domain, domain->input[k][i], relevance->spared,
                               relevance->reads);
    }
}

int relevance_same_input(const struct operation *o, bool spared, const bool zero[GRAPH_MAX_INPUTS])
{
    switch (o->kind) {
    case GRAPH_MULTIPLY:
        return spared || zero[0] || zero[1] ? ZERO_INPUT : -1;
    case GRAPH_ERODE:
        return spared ? ZERO_INPUT : -1;
    case GRAPH_MIX:
        return spared ? 0 : -1;
    case GRAPH_ADD:
        return zero[1] ? 0 : zero[0] ? 1 : -1;
    case GRAPH_SUBTRACT:
        return zero[1] ? 0 : -1;
    case GRAPH_MIN:
    case GRAPH_MAX:
        return zero[0] && zero[1] ? ZERO_INPUT : -1;
    case GRAPH_ABS:
        return zero[0] ? ZERO_INPUT : -1;
    default:
        return -1;
    }
}
