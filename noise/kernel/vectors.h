/*
 * Vectors of LANES floats and 32-bit integers, in the compilers' own notation:
 * operators work lane by lane. Part of a kernel, which defines LANES first and
 * says how it looks values up afterwards. Everything else in a kernel is plain
 * loops that the compiler vectorises itself.
 */
#include <stdint.h>
#include <string.h>

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef uint32_t vu __attribute__((vector_size(4 * LANES)));

/* What narrow octaves and broad ones are summed in. */
typedef vf narrow_vector;
typedef double broad_vector __attribute__((vector_size(4 * LANES)));
enum { narrow_LANES = LANES, broad_LANES = LANES / 2 };

static inline narrow_vector narrow_splat(float x)
{
    return x - (narrow_vector){0};
}

static inline broad_vector broad_splat(double x)
{
    return x - (broad_vector){0};
}

static inline narrow_vector narrow_load(const float *from)
{
    narrow_vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline broad_vector broad_load(const double *from)
{
    broad_vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void narrow_store(float *to, narrow_vector v)
{
    memcpy(to, &v, sizeof v);
}

static inline void broad_store(double *to, broad_vector v)
{
    memcpy(to, &v, sizeof v);
}

static inline vu load_integers(const uint32_t *from)
{
    vu v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Lane by lane, for kernels without permutations of registers: TABLE[index] ... */
static inline vf lookup_in_register(vf table, vu index)
{
    vf v = {0};
    for (int lane = 0; lane < LANES; lane++)
        v[lane] = table[index[lane]];
    return v;
}

/* ... and in memory. */
static inline vf lookup_in_memory(const float *table, vu index)
{
    vf v = {0};
    for (int lane = 0; lane < LANES; lane++)
        v[lane] = table[index[lane]];
    return v;
}
