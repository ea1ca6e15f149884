/* Working memory, with the evaluations that it remembers. */
#include <errno.h>
#include <string.h>

#include "noise/evaluate/evaluate.h"
#include "noise/exact/aligned.h"
#include "noise/kernel/scratch.h"

int farlands_scratch_new(struct farlands_scratch **out)
{
    struct farlands_scratch *scratch = aligned_new(sizeof *scratch);
    if (!scratch)
        return -ENOMEM;
    memset(scratch->evaluation, 0, sizeof scratch->evaluation);
    *out = scratch;
    return 0;
}

void farlands_scratch_free(struct farlands_scratch *scratch)
{
    for (int i = 0; scratch && i < SCRATCH_EVALUATIONS; i++)
        evaluation_free(scratch->evaluation[i]);
    aligned_free(scratch);
}
