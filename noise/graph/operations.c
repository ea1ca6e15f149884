#include "operations.h"

#define PLACE_IN true
#define PLACE_OUT false

#define NUMBER(key, least, most)                                        \
    {                                                                   \
        key, least, most, "expected a number from " #least " to " #most \
    }
/* It must also be a power of two: graph_check.c. */
#define SPACING(key)                                            \
    {                                                           \
        key, GRAPH_MIN_SPACING, GRAPH_MAX_SPACING,              \
            "expected a power of two from 1 to 16777216 blocks" \
    }
#define NONE

#define COUNT(...) \
    (sizeof((struct operation_number[]){__VA_ARGS__}) / sizeof(struct operation_number))

const struct operation_kind operation_kinds[GRAPH_KINDS] = {
#define OPERATION(kind, name, inputs, family, place, price, ...) \
    [GRAPH_##kind] = {                                           \
        name, inputs, FAMILY_##family, PLACE_##place, price, COUNT(__VA_ARGS__), {__VA_ARGS__}},
#include "noise/graph/operations.def"
#undef OPERATION
};
