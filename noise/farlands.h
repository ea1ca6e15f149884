/*
 * Farlands: an infinite, seeded terrain. Load a world, fill a chunk:
 *
 *     #include <farlands.h>
 *     #include <stdio.h>
 *     #include <string.h>
 *
 *     int main(void)
 *     {
 *         const char *text = "worlds: [{name: hills, noise: {wavelength: 1024, octaves: 8}}]";
 *         struct farlands_world *world;
 *         char message[FARLANDS_MESSAGE];
 *         float metres[33][33];
 *         if (farlands_world_new(&world, text, strlen(text), NULL, message, sizeof message)) {
 *             fprintf(stderr, "%s\n", message);
 *             return 1;
 *         }
 *         // 33 x 33 heights, one per block, from block (1600, -320) on
 *         const struct farlands_grid chunk = farlands_chunk(1600, -320, 33, 33);
 *         if (farlands_heights(world, NULL, &chunk, metres[0], 33) == 0)
 *             printf("%.2f m in the middle\n", metres[16][16]);
 *         farlands_world_free(world);
 *     }
 *
 * A world is made from text: the server's document /{world}.json, or YAML as the server's
 * configuration has it (config/README.md). It is a set of fields with names. A field is a pure
 * function from a place to a float; the field "height" is the ground in metres. Its values have the
 * same bits as the server's, on every machine, in a grid of any shape and at a single place, in any
 * floating-point mode of the caller.
 *
 * Coordinates are 64-bit counts of units, 1/1024 block: x to the east, y to the south, z upwards. A
 * block is one metre.
 *
 * Functions that return int return 0, or a negative errno and then write nothing but MESSAGE:
 *   -EINVAL  NULL for a pointer, a grid or box out of bounds, a stride less than its width
 *   -ENOENT  no field, or no world, of this name
 *   -ENOMEM
 *
 * Worlds never change, and any number of threads may use one at once. A scratch is working memory,
 * for one call at a time: it saves the allocation of 7 MB, and of 12 to 17 MB more for each `drain`
 * or `drainage` of the world, and remembers values at places nearby. NULL makes one for this call:
 * at a single place of a world with rivers that takes milliseconds, with a scratch a hundredth of
 * it, if the last place was near. A call needs 128 KiB of stack.
 *
 * Programs stay compatible with later versions of the library with the same soname: no function
 * changes its meaning, and no structure its size. Structures that may grow are opaque; grids and
 * boxes are frozen, since a request with more to say will be a function of its own.
 */
#ifndef FARLANDS_H
#define FARLANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Units ---------------------------------------------------------------- */

/* Units per block, as a power of two and as a number. */
#define FARLANDS_UNIT_BITS 10
#define FARLANDS_UNIT (INT64_C(1) << FARLANDS_UNIT_BITS)

/* The world ends this far from the origin, in blocks and in units. */
#define FARLANDS_LIMIT_BLOCKS (INT64_C(1) << 52)
#define FARLANDS_LIMIT (FARLANDS_LIMIT_BLOCKS * FARLANDS_UNIT)

/* The largest distance between two samples in a grid or box, in units. */
#define FARLANDS_MAX_STEP (INT64_C(1) << 52)

/* BLOCKS whole blocks, -2^53 .. 2^53, in units. */
static inline int64_t farlands_units(int64_t blocks)
{
    return blocks * FARLANDS_UNIT;
}

/* The block that contains UNITS: rounded down, so that block -1 is west of block 0. */
static inline int64_t farlands_block(int64_t units)
{
    return (units - (units & (FARLANDS_UNIT - 1))) / FARLANDS_UNIT;
}

/* UNITS in blocks, exact up to 2^43 blocks. */
static inline double farlands_blocks(int64_t units)
{
    return (double)units / (double)FARLANDS_UNIT;
}

/* --- Worlds --------------------------------------------------------------- */

struct farlands_world;

enum {
    FARLANDS_MESSAGE = 1024,       /* bytes, room for every message, with its NUL */
    FARLANDS_WORLD_TEXT = 1 << 20, /* bytes, the longest text for a world */
    FARLANDS_MAX_FIELDS = 16,      /* in one call */
};

/*
 * Make the world NAME of TEXT, LENGTH bytes. If NAME is NULL the text must have exactly one world.
 * The text is one of
 *
 *  - JSON: the complete document that the server has at /{world}.json or /{world}:{seed}.json;
 *  - YAML: a configuration of the server with `worlds:`.
 *
 * Omitted keys take their defaults, as in the server. A released default never changes, and this
 * version renders the documents of all generators that farlands_generators tells, bit for bit. A
 * key that this version does not know is refused, since it may change the heights, except within
 * `layers`, `limits` and `urls`. Both kinds are read as YAML, without anchors and aliases, at most
 * 32 levels deep, with at most 200000 keys and values. Any locale; TEXT is not kept.
 *
 * Worlds from YAML need libyaml. A library built without it, as on Windows, reads documents alone
 * and refuses other texts as malformed, with a message that says so.
 *
 * On an error MESSAGE, of SIZE bytes, gets one line: the position, the problem, and what is
 * expected; NULL and 0 do without. Returns 0, and the caller frees *OUT, or
 *  -EINVAL   malformed, beyond the limits above, a value out of bounds, an unknown key, several
 *            worlds and no NAME; the environment variable FARLANDS_KERNEL names no kernel
 *  -ENOENT   no world NAME
 *  -ENOTSUP  a document of a generator that this version does not have
 *  -EFBIG    more than FARLANDS_WORLD_TEXT bytes
 *  -ENOMEM
 */
int farlands_world_new(struct farlands_world **out, const char *text, size_t length,
                       const char *name, char *message, size_t size);

/*
 * The seed that TEXT, LENGTH bytes of UTF-8, means, as in the server's URLs: a whole number from
 * -2^63 to 2^64-1, whose negative ones are two's complement, so that -1 is 2^64-1; or any other
 * text, whose bytes are hashed (FNV-1a). Spaces, tabs and line ends around it do not count. Returns
 * -EINVAL if it is blank. Compose typed accents (Unicode's form NFC), as the server's viewer does.
 */
int farlands_seed(const char *text, size_t length, uint64_t *out);

/* The same world with SEED, like the server's /{world}:{seed}. */
int farlands_world_reseed(struct farlands_world **out, const struct farlands_world *world,
                          uint64_t seed);

/* NULL is allowed. */
void farlands_world_free(struct farlands_world *world);

/* Facts about WORLD, which is not NULL. Strings live as long as the world. */
const char *farlands_world_name(const struct farlands_world *world); /* "default", "default:42" */
uint64_t farlands_world_seed(const struct farlands_world *world);
/* The generator that defines the world's values. */
int farlands_world_generator(const struct farlands_world *world);
/* 16 hex digits: the fingerprint of its regions, as in the document that the world was made from;
 * "" for YAML and other seeds. */
const char *farlands_world_fingerprint(const struct farlands_world *world);
/* The zoom whose samples are a block apart, and where sample 0 of tile 0 lies, in units. */
int farlands_world_native_zoom(const struct farlands_world *world);
void farlands_world_origin(const struct farlands_world *world, int64_t *x, int64_t *y);
/* The world's kernel: "avx512", "avx2", "neon" or "scalar". The environment variable
 * FARLANDS_KERNEL forces one when a world is made. Kernels differ in speed only. */
const char *farlands_world_kernel(const struct farlands_world *world);

/* --- Fields --------------------------------------------------------------- */

/* The name of field INDEX, from 0 on, in the same order as the text; NULL if there are fewer. Every
 * world has the field "height". */
const char *farlands_field_name(const struct farlands_world *world, size_t index);

/* A field's unit, "" if it has none; NULL if there is no such FIELD. */
const char *farlands_field_unit(const struct farlands_world *world, const char *field);

/* The name of biome ID, 0 to 255, a value in the field "biome"; NULL if the world has no such
 * biome. */
const char *farlands_biome_name(const struct farlands_world *world, int id);

/* Bounds for a field's values. No value is outside, but all may be far from the bounds. */
int farlands_field_range(const struct farlands_world *world, const char *field, float *min,
                         float *max);

/* Working memory. Make one per thread, for any number of worlds. */
struct farlands_scratch;
int farlands_scratch_new(struct farlands_scratch **out);
/* COUNT of them, for threads that work on the same worlds: they share the rivers that they find, so
 * that each finds fewer. Values are the same. Each is freed by itself, in any order. Returns 0, or
 * -ENOMEM and makes none. */
int farlands_scratches_new(struct farlands_scratch **out, size_t count);
void farlands_scratch_free(struct farlands_scratch *scratch);

/* --- Grids ---------------------------------------------------------------- */

/*
 * A rectangle of samples. Column i, row j lies at (x + i * step, y + j * step) units. Along each
 * axis every sample must lie within FARLANDS_LIMIT + FARLANDS_MAX_STEP of the origin, because tiles
 * at the end of the world have a border, too. First and last must be less than 2^63 units apart.
 * Frozen.
 */
struct farlands_grid {
    int64_t x, y;
    int64_t step; /* 1 .. FARLANDS_MAX_STEP */
    int width, height;
    bool band_limit; /* fade out octaves finer than the samples: for pictures */
};

/* A grid of WIDTH x HEIGHT blocks from block (X, Y) on. */
static inline struct farlands_grid farlands_chunk(int64_t x, int64_t y, int width, int height)
{
    const struct farlands_grid grid = {
        farlands_units(x), farlands_units(y), FARLANDS_UNIT, width, height, false};
    return grid;
}

/*
 * The square that the server's tile ZOOM/X/Y shows, as a grid of SIZE x SIZE samples, a power of
 * two up to 4096; the server's tiles have 256, and 512 if they end with @2x. Without a band limit,
 * like tiles of numbers; pictures have one. Returns -EINVAL for zooms that the server does not
 * have, if samples would lie beyond the end of the world, and if they would be less than a unit
 * apart.
 */
int farlands_tile(const struct farlands_world *world, int zoom, int64_t x, int64_t y, int size,
                  struct farlands_grid *out);

/* Write heights in metres into OUT, row by row from north to south, west to east within a row. Rows
 * begin STRIDE >= width floats apart. Large grids are cheaper per sample than small ones. */
int farlands_heights(const struct farlands_world *world, struct farlands_scratch *scratch,
                     const struct farlands_grid *grid, float *out, size_t stride);

/* COUNT fields, 1 to FARLANDS_MAX_FIELDS: FIELD[i] into OUT[i], all with the same stride. What
 * fields have in common is computed once. */
int farlands_fields(const struct farlands_world *world, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, const char *const *field, size_t count,
                    float *const *out, size_t stride);

/*
 * A field over a grid without band limit, with its derivatives along x and y, per block, into three
 * arrays with the same stride. Derivatives are slopes of the mathematical surface at each sample,
 * not differences between neighbors, and have the same bits on every machine. Values are the same
 * as in farlands_fields. Takes some 60 ns per sample and octave.
 */
int farlands_gradients(const struct farlands_world *world, struct farlands_scratch *scratch,
                       const struct farlands_grid *grid, const char *field, float *value, float *dx,
                       float *dy, size_t stride);

/* --- Places --------------------------------------------------------------- */

/* The height, or any field, at one place: the same bits as in a grid without band limit. NAN beyond
 * a grid's bounds, if out of memory, or if there is no such FIELD. */
float farlands_height(const struct farlands_world *world, struct farlands_scratch *scratch,
                      int64_t x, int64_t y);
float farlands_value(const struct farlands_world *world, struct farlands_scratch *scratch,
                     const char *field, int64_t x, int64_t y);

/* --- Water ---------------------------------------------------------------- */

/*
 * A world has water if it has a field "water" that depends on a `drain` or a `drainage`
 * (config/README.md, "Rivers"). For other worlds these functions return -ENOENT.
 */

/* What a course's point lies in. Over land water has no bed yet, or no longer. */
enum farlands_water {
    FARLANDS_LAND,
    FARLANDS_RIVER,
    FARLANDS_LAKE,
    FARLANDS_SEA,     /* where a course ends */
    FARLANDS_END_LAKE /* has no outlet: the other end; or the water would go on in a circle */
};

/* Frozen. */
struct farlands_course_point {
    int64_t x, y; /* units */
    /* Levels and beds never rise from point to point, width and order never fall. But a river of a
     * `drainage` may lose width and depth, because what lies far upstream may count on one side of
     * a line only: up to a fifth once in some thousand km, and more once in some ten thousand. */
    float level; /* the water's, in metres */
    float bed;   /* the bottom in the middle; LEVEL over land */
    float width; /* metres; 0 over land */
    float order; /* as the node `river` has it; 0 over land */
    int kind;    /* enum farlands_water */
};

/* How far a course was followed: a node in the drainage, and a step there. Valid for the same world
 * alone, at any time. Frozen. */
struct farlands_course {
    int64_t i, j;
    int step;
};

/* Begin the course of water from a place: along a river, if one is within 256 m and a node spacing,
 * or else over land from the nearest node. */
int farlands_course_at(const struct farlands_world *world, struct farlands_scratch *scratch,
                       int64_t x, int64_t y, struct farlands_course *out);

/*
 * Write the next points of COURSE, downstream, at most ROOM, into OUT, and their number into
 * *COUNT. COURSE moves on. If they are fewer than ROOM the course has ended, with its last point in
 * the sea or in an end lake. Points are the corners of the line that the river's middle follows.
 * Where it is already within a larger river or an end lake, levels are the other water's.
 */
int farlands_downstream(const struct farlands_world *world, struct farlands_scratch *scratch,
                        struct farlands_course *course, struct farlands_course_point *out,
                        size_t room, size_t *count);

/* --- Space ---------------------------------------------------------------- */

/* A box of samples. (i, j, k) lies at (x + i * step, y + j * step, z + k * step) units, within the
 * same bounds as a grid. Frozen. */
struct farlands_box {
    int64_t x, y, z;
    int64_t step; /* 1 .. FARLANDS_MAX_STEP */
    int width, height, depth;
};

/*
 * Write the density in blocks at every sample in a box into OUT: x varies fastest, then y, then z,
 * without gaps. Density is above 0 in the ground and below 0 in the air, with the overhangs and
 * caves of the world's `volume`. Near a surface its size is roughly the distance. A sample has the
 * same bits as farlands_density_at, so boxes may share faces at any step.
 */
int farlands_density(const struct farlands_world *world, struct farlands_scratch *scratch,
                     const struct farlands_box *box, float *out);

/* The density at one place; NAN beyond a box's bounds. */
float farlands_density_at(const struct farlands_world *world, int64_t x, int64_t y, int64_t z);

/*
 * Bare Perlin noise without a unit, in double, in 1 to 4 DIMENSIONS. PLACE has as many coordinates,
 * in units. Hash, fade, octaves and fractal are from the world's `noise` (defaults if the world has
 * `fields`), and in 2 dimensions gradients as well. Basis, warp and elevation do not apply. NAN
 * beyond FARLANDS_LIMIT + FARLANDS_MAX_STEP.
 */
double farlands_noise(const struct farlands_world *world, int dimensions, const int64_t *place);

/* The same in 3 dimensions at every sample in a box, rounded to float, into OUT in the same order
 * as densities. */
int farlands_volume(const struct farlands_world *world, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out);

/* --- Versions ------------------------------------------------------------- */

/* The version of the generator for a single noise. What a released generator computes never changes
 * by as much as one bit. */
#define FARLANDS_GENERATOR 2

/* The version of the running library, such as "0.2.0", and the generators that it implements:
 * *FIRST to *LAST. */
const char *farlands_version(void);
void farlands_generators(int *first, int *last);

#ifdef __cplusplus
}
#endif

#endif
