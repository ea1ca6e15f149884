/*
 * A terrain: a world's fields, ready for evaluation. Never changes, and any number of threads may
 * use one at once. Private to the project; farlands.h has the public interface.
 */
#ifndef FARLANDS_TERRAIN_H
#define FARLANDS_TERRAIN_H

#include "noise/fractal/params.h"

/* Without a band limit rivers are dear if samples are farther apart than this, in units, because
 * each sample needs separate nodes. Tiles at coarser zooms are filtered. */
#define TERRAIN_FAR (FARLANDS_UNIT << 6)

struct graph;
struct graph_fault;
struct farlands_terrain;

/*
 * Make a terrain from GRAPH. The caller frees it with terrain_free. Volumes are made from PARAMS,
 * which must be valid, and whose octaves and curve are not read. Returns 0; -ENOMEM; or -EINVAL and
 * *FAULT, whose text is NULL if the kernel is at fault (terrain_kernel_fault). GRAPH and PARAMS are
 * not kept.
 */
int terrain_new(struct farlands_terrain **out, const struct graph *graph,
                const struct farlands_params *params, struct graph_fault *fault);

/* Make a terrain from a single noise. The caller frees it. Returns 0, -EINVAL (see params_fault and
 * terrain_kernel_fault) or -ENOMEM. *OUT is set only on 0. */
int terrain_new_noise(struct farlands_terrain **out, const struct farlands_params *params);
void terrain_free(struct farlands_terrain *terrain);

/* The lowest and the highest height on the elevation curve, in metres. */
void terrain_range(const struct farlands_terrain *terrain, float *min, float *max);

/* The last octave's wavelength, in units. The terrain has no finer detail. */
int64_t terrain_finest(const struct farlands_terrain *terrain);

/* The number of the field called NAME, with LENGTH bytes, or -1. Fields are numbered from 0 on, as
 * in the graph. A terrain with a single noise has one field, "height". */
int terrain_field(const struct farlands_terrain *terrain, const char *name, size_t length);
int terrain_field_count(const struct farlands_terrain *terrain);
const char *terrain_field_name(const struct farlands_terrain *terrain, int field);

/* True if FIELD is, or is made from, a water level (GRAPH_WATER): then there are rivers with
 * courses.
 */
bool terrain_field_is_water(const struct farlands_terrain *terrain, int field);

/* The field whose values are heights. */
int terrain_height_field(const struct farlands_terrain *terrain);

/* True if rivers flow in the terrain. Then exact values at places far apart take long
 * (TERRAIN_FAR). */
bool terrain_has_drain(const struct farlands_terrain *terrain);

/* True if rivers build ground of the terrain (GRAPH_DRAINAGE). Then a first exact value at a place
 * takes some 30 ms, and others less than 10 km away take little. */
bool terrain_is_built(const struct farlands_terrain *terrain);

/* True unless the terrain's only field is a noise that nothing moves. */
bool terrain_is_graph(const struct farlands_terrain *terrain);

/* Bounds for a field's values. No value is outside, but all may be far from the bounds. */
void terrain_field_range(const struct farlands_terrain *terrain, int field, float *min, float *max);

enum { TERRAIN_MAX_FIELDS = 16 }; /* in one evaluation */

/*
 * Evaluate COUNT fields, 1 to TERRAIN_MAX_FIELDS, over GRID: FIELD[i] into OUT[i]. Rows begin
 * STRIDE floats apart, as for terrain_heights. What fields have in common is computed once. Returns
 * 0; -EINVAL if the grid is out of bounds; -ENOMEM.
 */
int terrain_fields(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                   const struct farlands_grid *grid, const int *field, int count, float *const *out,
                   size_t stride);

/*
 * Evaluate a field over GRID, which must not be band-limited, with its derivatives along x and y,
 * per block, into three arrays with the same stride. Derivatives are slopes of the mathematical
 * surface at each sample, not differences between neighbors, and have the same bits on every
 * machine. Values are the same as in terrain_fields. Takes some 60 ns per sample and octave.
 * Returns like terrain_fields.
 */
int terrain_gradients(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                      const struct farlands_grid *grid, int field, float *value, float *dx,
                      float *dy, size_t stride);

/*
 * A field at one place, with the same bits as in a grid; NAN beyond a grid's bounds, or if out of
 * memory. SCRATCH remembers values for places nearby. If SCRATCH is NULL, a new one is made for
 * this call, which takes much longer unless the terrain is a single noise.
 */
float terrain_field_at(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       int field, int64_t x, int64_t y);

/* Like terrain_heights, but the caller has checked the bounds. */
int terrain_heights_within(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                           const struct farlands_grid *grid, float *out, size_t stride);

/*
 * Write heights in metres into OUT, row by row from north to south, west to east within a row. Rows
 * begin STRIDE >= width floats apart. Without band_limit a sample is exactly terrain_height at its
 * place. Returns 0, or -EINVAL if the grid is out of bounds or STRIDE is less than its width.
 */
int terrain_heights(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, float *out, size_t stride);

/* The height at one place, in metres; NAN beyond a grid's bounds. Any thread; needs 100 KiB of
 * stack. */
float terrain_height(const struct farlands_terrain *terrain, int64_t x, int64_t y);

/* Like farlands_course_at and farlands_downstream, with the rivers of FIELD, a
 * terrain_field_is_water. Return 0; -EINVAL if the place is beyond a grid's bounds, or if there is
 * no such COURSE; -ENOMEM. */
struct farlands_course;
struct farlands_course_point;
int terrain_course_at(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                      int field, int64_t x, int64_t y, struct farlands_course *out);
int terrain_downstream(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       int field, struct farlands_course *course, struct farlands_course_point *out,
                       size_t room, size_t *count);

/*
 * Perlin noise in 1 to 4 dimensions, in double, with the terrain's hash, fade, octaves and fractal,
 * and in 2 dimensions also with its gradients. Basis, warp and elevation do not apply. Any thread.
 * NAN beyond FARLANDS_LIMIT + FARLANDS_MAX_STEP.
 *
 * Other gradients are from "Improving Noise" (Perlin 2002). In one dimension: +1 and -1. In three:
 * the 12 edges of a cube, with (1,1,0) (-1,1,0) (0,-1,1) (0,-1,-1) twice to make 16. In four: the
 * 32 edges of a hypercube, where index / 8 leaves out w, z, y or x, and bits 0, 1 and 2 negate the
 * other axes in order. In 3 dimensions permutation gives the index P[P[P[X] + Y] + Z], so that seed
 * 0 reproduces the published noise.
 */
double terrain_noise1(const struct farlands_terrain *terrain, int64_t x);
double terrain_noise2(const struct farlands_terrain *terrain, int64_t x, int64_t y);
double terrain_noise3(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z);
double terrain_noise4(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z,
                      int64_t w);

/*
 * Write terrain_noise3 at every sample in a box into OUT, rounded to float: x varies fastest, then
 * y, then z, without gaps. Returns 0, or -EINVAL if the box is out of bounds.
 */
int terrain_volume(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                   const struct farlands_box *box, float *out);

/*
 * Density in blocks at every sample of a box, into OUT as above: above 0 within the ground, below 0
 * in the air. Near a surface its size is roughly the distance from it. In float:
 *
 *     s       = height(x, y) - z
 *     ground  = s + amplitude (1 - (s / amplitude)^2)^2 bulge       if |s| < amplitude, else s
 *     bulge   = n - n clamped to -threshold .. threshold            n of overhangs
 *     open    = ground / cover clamped to 0 .. 1; 1 if cover is 0
 *     cavern  = wavelength (1 - n) - wavelength size open           n of caverns
 *     tunnel  = wavelength sqrt(a^2 + b^2) - radius open            a, b of tunnels
 *     density = the least of ground, cavern and tunnel
 *
 * Lengths are in blocks; a part that is off is left out. Cavern and tunnel count only if ground is
 * above 0, or, if cover is 0, above -wavelength size and -radius; otherwise neither is the least. s
 * is computed in double, from z rounded to double (exact up to 2^43 blocks), then rounded to float;
 * both round to the nearest, ties to even.
 *
 * That is generator 2, of terrain_new_noise. Graphs, generator 3, keep near to their heights, and
 * no piece of their ground floats. They have
 *
 *     cover   = 16, or what is given if that is more, for caverns and tunnels
 *     cave    = the less of cavern and tunnel - (16 - |cavern - tunnel|)^2 / 64
 *               without the last term if the difference is 16 or more
 *     density = the greater of ledge and the least of s and cave
 *     ledge   = below / 2 (1 - (dx^2 + dy^2 + skew dx dy) / reach^2 - up^2)
 *     up      = (middle - z) / below, times 3 if that is negative
 *     middle  = height - below / 3 - 1                              the height at dx = dy = 0
 *     below   = reach / squash
 *     reach   = share times the less of amplitude / 2 and 0.39 square
 *
 * and s for ground. The plane is cut into squares, half a wavelength of overhangs wide (a whole one
 * if that is odd in units). dx and dy are from the middle of the square that (x, y) is in. It has a
 * ledge if share, a random number up to 1, is not below the threshold. skew is another, -3/4 to
 * 3/4. With r(k, n) number n of seed k and key = r(seed, 520), in column i and row j of the
 * squares, in a period from 0 on,
 *
 *     share = u(i, j), skew = 1.5 u(j, i) - 0.75, u(i, j) = (floor(r(r(key, i), j) / 2^40) + 1) /
 * 2^24
 *
 * On level ground ledges are buried. The edge between two caves is rounded off, because thin pieces
 * of it would float. Why ledges never do is in ledge.h.
 *
 * Sources: the least of several densities is their intersection (Hart, "Sphere tracing", 1996).
 * Caverns and tunnels are the "cheese" and "spaghetti" caves of Minecraft 1.18, overhangs are like
 * its terrain, a vertical gradient of density with noise in space added to it. The difference of
 * caves is a polynomial smooth minimum (Quilez, "smooth minimum").
 *
 * The noises are like terrain_noise3, with the terrain's hash and fade, but in float, and with
 * random numbers of their own. With mix64, octave k of noise m (0 overhangs, 1 caverns, 2 and 3
 * tunnels a and b) takes eight of the seed's, from number 520 + 8 (16 m + k) on: keys of x and y,
 * shifts of x and y, the same for z and an unused axis. With permutation, 51 (m + 1) is added to
 * the salt. If the terrain has a period, density has the same in x and y.
 *
 * A sample has the same bits as terrain_density_at there, so boxes may share faces at any step,
 * and a box may be computed in parts. Returns 0, or -EINVAL if the box is out of bounds.
 */
int terrain_density(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out);

/* The density at one place; NAN beyond a box's bounds. Any thread; needs as much stack as
 * terrain_height. */
float terrain_density_at(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z);

/*
 * The surface at (X, Y), in metres: the ground that one meets from above, under the open sky, into
 * OUT. HEIGHT is the terrain's height there. Of the densities at whole altitudes, a block apart,
 * those from some k + 1 upwards are not above 0, and that at k is; the surface lies between, where
 * a straight line from one to the other is 0, as in marching cubes:
 *
 *     surface = k + d(k) / (d(k) - d(k + 1))        in double, rounded to a float above k
 *
 * So k is the highest solid block, and a player's feet are at the surface rounded up. Without
 * overhangs and caves at the place it is the height, bit for bit. A shaft that goes deeper than
 * 1024 blocks ends there. Returns 0; -EINVAL beyond the bounds of a box; -ENOMEM.
 */
int terrain_surface(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    int64_t x, int64_t y, float height, float *out);

/* GRID's surfaces, in the same layout as heights from terrain_heights. GRID must not be
 * band-limited. */
int terrain_surfaces(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     const struct farlands_grid *grid, float *out, size_t stride);

/* The name of TERRAIN's kernel, a static string: "avx512", "avx2", "neon" or "scalar". It is the
 * fastest that the machine supported when the terrain was made, or the one named by the environment
 * variable FARLANDS_KERNEL. Kernels differ in speed only. */
const char *terrain_kernel(const struct farlands_terrain *terrain);

/* Check the environment variable FARLANDS_KERNEL. Returns NULL if it is unset, empty or names a
 * kernel that this machine supports. Otherwise returns a message that says what is expected, a
 * static string, and terrain_new_noise returns -EINVAL. */
const char *terrain_kernel_fault(void);

#endif
