/* The table of kernels, best first, and the choice among them. */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "noise/exact/arithmetic.h"

extern const struct kernel kernel_scalar;
#if defined __x86_64__
extern const struct kernel kernel_avx2, kernel_avx512;
#define KERNEL_TABLE &kernel_avx512, &kernel_avx2, &kernel_scalar
#define KERNEL_NAMES "avx512, avx2 or scalar"
#elif defined __aarch64__
extern const struct kernel kernel_neon;
#define KERNEL_TABLE &kernel_neon, &kernel_scalar
#define KERNEL_NAMES "neon or scalar"
#elif defined __wasm__ /* a second kernel would double the module */
extern const struct kernel kernel_simd128;
#define KERNEL_TABLE &kernel_simd128
#define KERNEL_NAMES "simd128"
#else
#define KERNEL_TABLE &kernel_scalar
#define KERNEL_NAMES "scalar"
#endif

static const struct kernel *const kernels[] = {KERNEL_TABLE};

enum { KERNELS = sizeof kernels / sizeof kernels[0] };

/* The kernel that the environment names; NULL if any will do. An empty value counts as unset. */
static const char *forced_kernel(void)
{
    const char *name = getenv("FARLANDS_KERNEL");
    return name && *name ? name : NULL;
}

static const struct kernel *find(const char *name)
{
    for (size_t i = 0; i < KERNELS; i++)
        if (strcmp(name, kernels[i]->name) == 0)
            return kernels[i];
    return NULL;
}

static const struct kernel *fastest(void)
{
    size_t i = 0;
    while (i + 1 < KERNELS && !kernels[i]->supported()) /* the last one runs everywhere */
        i++;
    return kernels[i];
}

static const struct kernel *wanted(void)
{
    const char *forced = forced_kernel();
    return forced ? find(forced) : fastest();
}

const struct kernel *kernel_choose(void)
{
    return kernel_fault() ? NULL : wanted();
}

const char *kernel_fault(void)
{
    WITH_PLAIN_ARITHMETIC;
    const struct kernel *kernel = wanted();

    if (!kernel)
        return "expected " KERNEL_NAMES;
    if (!kernel->supported())
        return "this processor lacks its instructions; expected " KERNEL_NAMES;
    return kernel->exact() ? NULL
                           : "the library was compiled with -ffp-contract=fast or "
                             "-funsafe-math-optimizations; expected neither";
}
