/*
 * Ground that is built by its drainage. Private to noise/. README.md has a drawing.
 *
 * Where uplift and erosion balance, a river that drains an area A falls by k A^-theta (Flint 1974),
 * and no hillside is steeper than its rock and soil bear. With s the lesser of both slopes, three
 * equations hold for the nodes of a lattice:
 *
 *     z(p) = min over neighbors q of z(q) + s(p) |p - q|    the ground
 *     r(p) = the neighbor to which p falls most steeply     its receiver
 *     A(p) = own area + sum of A(q) over q with r(q) = p    what it drains
 *
 * So every node has a lower neighbor, rivers run in the bottoms of their valleys, and a crest is
 * where the slopes of two valleys meet.
 *
 * Levels are lattices, each with half the spacing of the one before, and each turned by another
 * angle, so that the ground shows no direction of a lattice. Where the water of a level drains more
 * than 6 cells, its way is a course: an upper bound for the ground of the next level,
 * which solves the equations anew.
 *
 * A level is solved in blocks of nodes with a margin around. What a block finds for the nodes
 * within its margin is their definition. So each value depends on its place alone, and needs the
 * world within DRAINAGE_REACH spacings of level 0.
 */
#ifndef FARLANDS_DRAINAGE_H
#define FARLANDS_DRAINAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "noise/drainage/course_node.h"
#include "noise/graph/drainage_params.h"

struct farlands_grid;

/* How far a height depends on the world's fields along each axis, in spacings of level 0: on each
 * level 120 cells across a block, and 20 more to samples and to blocks of the level before. */
enum { DRAINAGE_REACH = 280 };

/* Write the inputs over GRID, which is band-limited: each into its OUT, rows without gaps, unless
 * that is NULL. Returns 0 or a negative errno. */
typedef int drainage_source(void *context, const struct farlands_grid *grid,
                            float *const out[DRAINAGE_INPUTS]);

/* What was solved so far and fits its memory, of any number of drainages. Threads share it; readers
 * take no lock. */
struct drainage_cache;

/* For THREADS threads. Returns 0 or -ENOMEM. */
int drainage_cache_new(struct drainage_cache **out, unsigned threads);
/* Another reference, which goes to drainage_cache_free, too. Returns CACHE. */
struct drainage_cache *drainage_cache_share(struct drainage_cache *cache);
void drainage_cache_free(struct drainage_cache *cache);

/* The ground of a world. For one thread. */
struct drainage;

/* Returns 0 or -ENOMEM. PARAMS are copied, CACHE is referenced. Drainages with the same OWNER and
 * PART have the same parameters, and sources that give the same values. */
int drainage_new(struct drainage **out, const struct drainage_params *params,
                 drainage_source *source, void *context, struct drainage_cache *cache,
                 uint64_t owner, int part);
void drainage_free(struct drainage *drainage);

/* Sample places in rows and columns: units, ascending. */
struct drainage_samples {
    const int64_t *x, *y;
    int width, height;
};

/* Write heights at SAMPLES, in metres, into OUT, rows STRIDE apart. BAND_LIMIT: the distance of
 * samples in a picture, which gets the ground of the level that it can show, with the mean of what
 * finer levels add; 0: the ground itself. Returns 0 or an error of the source. */
int drainage_heights(struct drainage *drainage, const struct drainage_samples *samples,
                     int64_t band_limit, float *out, size_t stride);

/* Write the levels of lakes over samples at which there may be one: where the ground, with all that
 * is added to it, is lower, they are under water. The others stay as they are. */
int drainage_lakes(struct drainage *drainage, const struct drainage_samples *samples,
                   int64_t band_limit, float *out, size_t stride);

/* The level whose ground a picture with samples BAND_LIMIT apart shows; 0: the last. */
int drainage_level(const struct drainage *drainage, int64_t band_limit);

/* Whether rivers build LEVEL's ground. On the others water runs over the envelope and fills its
 * hollows. */
bool drainage_builds(const struct drainage *drainage, int level);

/* Columns and rows from a node to its neighbors. Back from neighbor k is k ^ 4. */
enum { DRAINAGE_NEIGHBORS = 8 };
extern const int drainage_neighbor[DRAINAGE_NEIGHBORS][2];

/* A rectangle of a level's nodes: columns from I, rows from J. Only those that lie in the box in
 * units matter, and those around it. */
struct drainage_area {
    int64_t i, j;
    int width, height;
    int64_t left, right, top, bottom;
};

/* The order (rivers.h) of a river that drains KM2, at most 14: 3 at 1 km2. Its length in spacings
 * is taken to be 4 KM2^0.55. */
float drainage_order(float km2);

/* The nodes of LEVEL in a box in units, and MORE on each side. */
struct drainage_area drainage_area_of(const struct drainage *drainage, int level, int64_t left,
                                      int64_t right, int64_t top, int64_t bottom, int more);

/*
 * Write the nodes of AREA, row by row. Their length is as drainage_order says, and 0 off courses.
 * BIRTH is 0 on courses and LEVEL beside them. Nodes that do not matter are COURSE_SEA, beyond all
 * places. Returns 0 or the source's error; -ENOMEM.
 */
int drainage_nodes(struct drainage *drainage, int level, const struct drainage_area *area,
                   struct course_node *out);

/* The same for WIDTH x HEIGHT nodes from (I, J) on, all of which matter. */
int drainage_nodes_at(struct drainage *drainage, int level, int64_t i, int64_t j, int width,
                      int height, struct course_node *out);

/* About where node (I, J) of LEVEL lies, in units. For any I and J. */
void drainage_place(const struct drainage *drainage, int level, int64_t i, int64_t j, double *x,
                    double *y);

/* The node of LEVEL in whose cell (X, Y) lies. */
void drainage_nearest(const struct drainage *drainage, int level, int64_t x, int64_t y, int64_t *i,
                      int64_t *j);

#endif
