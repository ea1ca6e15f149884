/* How much is kept, in all. */
#include <errno.h>
#include <stdlib.h>

#include "noise/drainage/drainage_parts.h"

/* For one thread: more than one block and all that it is made from. */
enum { BLOCKS = 272, SEVERAL = 32, ONE = 96 };

/* Threads that render beside each other need many of the same blocks, so that others get less than
 * the first one, and those beyond MOST_THREADS nothing. */
static int for_threads(int count, unsigned threads)
{
    enum { MOST_THREADS = 4 };
    const int more = threads > MOST_THREADS ? MOST_THREADS - 1 : threads > 1 ? (int)threads - 1 : 0;
    return count + more * (count / 4 * 3);
}

int drainage_cache_new(struct drainage_cache **out, unsigned threads)
{
    struct drainage_cache *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    c->references = 1;
    int err =
        shared_cache_new(&c->blocks, sizeof(struct drainage_block), for_threads(BLOCKS, threads));
    if (!err)
        err = shared_cache_new(&c->several, SEVERAL_VALUES * sizeof(float),
                               for_threads(SEVERAL, threads));
    if (!err)
        err = shared_cache_new(&c->one, ONE_SIDE * ONE_SIDE * sizeof(float),
                               for_threads(ONE, threads));
    if (err)
        drainage_cache_free(c);
    else
        *out = c;
    return err;
}

struct drainage_cache *drainage_cache_share(struct drainage_cache *cache)
{
    __atomic_fetch_add(&cache->references, 1, __ATOMIC_RELAXED);
    return cache;
}

void drainage_cache_free(struct drainage_cache *cache)
{
    if (!cache || __atomic_sub_fetch(&cache->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    shared_cache_free(cache->blocks);
    shared_cache_free(cache->several);
    shared_cache_free(cache->one);
    free(cache);
}
