/* The kernel for x86-64 with AVX2 and FMA. */
#define KERNEL kernel_avx2
#define KERNEL_NAME "avx2"
#define KERNEL_SUPPORTED (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#include "kernel_template.h"
