/* Working memory, with the evaluations that it remembers. */
#include <errno.h>
#include <string.h>

#include "noise/drainage/drainage.h"
#include "noise/evaluate/evaluate.h"
#include "noise/exact/aligned.h"
#include "noise/kernel/scratch.h"

int farlands_scratch_new(struct farlands_scratch **out)
{
    return farlands_scratches_new(out, 1);
}

int farlands_scratches_new(struct farlands_scratch **out, size_t count)
{
    struct drainage_cache *cache = NULL;
    int err = drainage_cache_new(&cache, (unsigned)count);
    size_t made = 0;
    for (; !err && made < count; made++) {
        out[made] = aligned_new(sizeof *out[made]);
        if (!out[made]) {
            err = -ENOMEM;
            break;
        }
        memset(out[made]->evaluation, 0, sizeof out[made]->evaluation);
        out[made]->drainage_cache = drainage_cache_share(cache);
    }
    for (; err && made > 0; made--)
        farlands_scratch_free(out[made - 1]);
    drainage_cache_free(cache);
    return err;
}

void farlands_scratch_free(struct farlands_scratch *scratch)
{
    for (int i = 0; scratch && i < SCRATCH_EVALUATIONS; i++)
        evaluation_free(scratch->evaluation[i]);
    if (scratch)
        drainage_cache_free(scratch->drainage_cache);
    aligned_free(scratch);
}
