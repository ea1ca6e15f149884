/* The kernel for x86-64 with AVX-512. */
#define KERNEL kernel_avx512
#define KERNEL_NAME "avx512"
#define KERNEL_SUPPORTED                                                        \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && \
     __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
#include "kernel_template.h"
