/* The table of kernels, best first, the choice among them, and their working memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "scratch.h"

extern const struct kernel kernel_scalar;
#if defined __x86_64__
extern const struct kernel kernel_avx2, kernel_avx512;
#elif defined __aarch64__
extern const struct kernel kernel_neon;
#endif

static const struct kernel *const kernels[] = {
#if defined __x86_64__
    &kernel_avx512,
    &kernel_avx2,
#elif defined __aarch64__
    &kernel_neon,
#endif
    &kernel_scalar,
};

enum { KERNELS = sizeof kernels / sizeof kernels[0] };

const struct kernel *kernel_choose(void)
{
    const char *forced = getenv("FARLANDS_KERNEL");
    const struct kernel *best = NULL;

    for (size_t i = 0; i < KERNELS; i++) {
        if (!kernels[i]->supported())
            continue;
        if (!best)
            best = kernels[i];
        if (forced && strcmp(forced, kernels[i]->name) == 0)
            return kernels[i];
    }
    return best; /* the scalar kernel runs everywhere */
}

int farlands_scratch_new(struct farlands_scratch **out)
{
    struct farlands_scratch *scratch = aligned_alloc(64, sizeof *scratch);
    if (!scratch)
        return -ENOMEM;
    *out = scratch;
    return 0;
}

void farlands_scratch_free(struct farlands_scratch *scratch)
{
    free(scratch);
}
