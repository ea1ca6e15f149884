#include "noise_keys.h"

#include <stddef.h>

const char *const noise_bases[] = {"perlin", "simplex", "cellular", "value", NULL};
const char *const noise_gradients[] = {"axis4", "diagonal4", "unit8", "integer8", "unit256", NULL};
const char *const noise_fades[] = {"linear", "cubic", "quintic", NULL};
const char *const noise_hashes[] = {"mix64", "permutation", NULL};
const char *const noise_fractals[] = {"none", "fbm", "billow", "ridged", "hybrid", NULL};
