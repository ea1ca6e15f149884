#include "visits.h"

#include <errno.h>
#include <stdlib.h>

#include "noise/farlands.h"
#include "server/core/thread_group.h"

/* Visits in progress, shared by the threads. */
struct run {
    const struct visits *visits;
    int next; /* atomic: the next place */
    int err;  /* atomic */
};

static void fail(struct run *run, int err)
{
    __atomic_store_n(&run->err, err, __ATOMIC_RELAXED);
}

static void work(void *context, unsigned number)
{
    struct run *run = context;
    const struct visits *visits = run->visits;
    struct farlands_scratch *scratch = NULL;
    void *memory = malloc(visits->memory + 1);
    int err = memory ? farlands_scratch_new(&scratch) : -ENOMEM;
    (void)number;

    for (int i; !err && !__atomic_load_n(&run->err, __ATOMIC_RELAXED) &&
                (i = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED)) < visits->count;)
        err = visits->visit(visits->context, scratch, memory, i);
    if (err)
        fail(run, err);
    farlands_scratch_free(scratch);
    free(memory);
}

int visits_run(const struct visits *visits, unsigned threads)
{
    struct run run = {.visits = visits};
    struct thread_group *group;
    int err = thread_group_start(&group, threads, work, &run);
    if (err)
        return err;
    thread_group_free(group);
    return run.err;
}
