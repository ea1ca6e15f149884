/* The kernel for 64-bit ARM, which always has NEON and fused multiply-add. */
#include <arm_neon.h>

#define KERNEL_LANES 4
#define KERNEL_BLOCK 4
#include "vectors.h"
#define lookup_32 lookup_in_memory

/* TABLE[index], index below KERNEL_LANES: four bytes for each. */
static inline narrow_vector lookup_lanes(narrow_vector table, integer_vector index)
{
    const integer_vector bytes = index * 0x04040404 + 0x03020100;
    return (narrow_vector)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)bytes);
}

static inline narrow_vector narrow_multiply_add(narrow_vector a, narrow_vector b, narrow_vector c)
{
    return (narrow_vector)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}

static inline broad_vector broad_multiply_add(broad_vector a, broad_vector b, broad_vector c)
{
    return (broad_vector)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}

#define KERNEL kernel_neon
#define KERNEL_NAME "neon"
#define KERNEL_SUPPORTED true
#include "kernel_template.h"
