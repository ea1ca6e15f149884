/* The kernel for any machine; where the hardware lacks fused multiply-add, fmaf is exact but slow.
 */
#define KERNEL kernel_scalar
#define KERNEL_NAME "scalar"
#define KERNEL_SUPPORTED true
#include "kernel_template.h"
