/*
 * Prices: what fields take, in picoseconds of a fixed machine, an x86-64 core of about 3 GHz with
 * AVX2. They are sums of a table's integers. So they are the same everywhere, and a world is too
 * dear, or not, on every machine alike. Masks are taken to be nowhere 0, and ground to be land.
 * Private to the project.
 */
#ifndef FARLANDS_PRICE_H
#define FARLANDS_PRICE_H

#include "noise/graph/program.h"

struct farlands_terrain;

#define PRICE_SECOND (UINT64_C(1000) * 1000 * 1000 * 1000)
#define PRICE_MOST (UINT64_C(1) << 62) /* greater ones are this */

/* SIDE x SIDE samples, STEP units apart. */
struct price_square {
    int64_t step;
    int side;
    bool band_limit;
};

/* The prices of the NODEs of each drainage, which the price of a square needs. */
void price_nodes(const struct program *program, uint64_t node[GRAPH_MAX_NODES]);

/* The price of OPERATION over SQUARE. OWN gets the part of each operation. */
uint64_t price_square(const struct program *program, const uint64_t node[GRAPH_MAX_NODES],
                      int operation, struct price_square square, uint64_t own[GRAPH_MAX_NODES]);

/* Samples from a block to 2^20 blocks apart are priced at each power of four. */
enum { PRICE_STEPS = 11 };

/* Of one field, per sample. */
struct price {
    uint64_t exact[PRICE_STEPS];
    uint64_t filtered; /* where it is dearest */
    uint64_t place;    /* alone, far from all others */
    uint64_t beside;   /* alone, but near a place whose rivers are known */
};

/* The prices of TERRAIN's fields, in an array that the caller frees; NULL if out of memory. They do
 * not depend on the seed. Takes some 50 us for each field of the built-in worlds. */
struct price *prices_new(const struct farlands_terrain *terrain);

/* The price of a sample of many, STEP units apart. Takes nanoseconds. */
uint64_t price_of_field(const struct price *price, int64_t step, bool band_limit);

/* A tile of 256 x 256 samples that takes long. */
struct dear_tile {
    uint64_t price;
    int field;    /* that it shows */
    int64_t step; /* units */
    int dearest;  /* the field whose own operations take most of it, */
    int percent;  /* and their part */
};

/*
 * Find the dearest exact tile of any of FIELDS, operations of PROGRAM, with samples up to 2^20
 * blocks apart; or up to TERRAIN_FAR if PROGRAM has rivers, because farther apart each sample has
 * to find rivers of its own.
 */
struct dear_tile price_dearest(const struct program *program, const int *field, int fields);

#endif
