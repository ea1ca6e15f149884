/*
 * Prices: what fields take, in picoseconds on a fixed machine, an x86-64 core with AVX2 at about 3
 * GHz. A price is a sum of integers from a table, so a world is too dear on all machines or on
 * none. For a price masks are nowhere 0, and ground is land. Private to the project.
 */
#ifndef FARLANDS_PRICE_H
#define FARLANDS_PRICE_H

#include "noise/graph/program.h"

struct farlands_terrain;

#define PRICE_SECOND (UINT64_C(1000) * 1000 * 1000 * 1000)
#define PRICE_MOST (UINT64_C(1) << 62) /* greater prices become this */

/* SIDE x SIDE samples, STEP units apart. */
struct price_square {
    int64_t step;
    int side;
    bool band_limit;
};

/* Each drainage's price per node, which price_square needs. */
void price_nodes(const struct program *program, uint64_t node[GRAPH_MAX_NODES]);

/* OPERATION's price over SQUARE. OWN gets each operation's part. */
uint64_t price_square(const struct program *program, const uint64_t node[GRAPH_MAX_NODES],
                      int operation, struct price_square square, uint64_t own[GRAPH_MAX_NODES]);

/* Prices are made for samples 1, 4, 16, ... 2^20 blocks apart. */
enum { PRICE_STEPS = 11 };

/* One field's prices per sample. */
struct price {
    uint64_t exact[PRICE_STEPS];
    uint64_t filtered; /* at the dearest zoom */
    uint64_t place;    /* alone, far from all others */
    uint64_t beside;   /* alone, but near a place whose rivers are known */
};

/* The prices for TERRAIN's fields, in an array that the caller frees; NULL if out of memory. The
 * seed does not change them. Takes some 50 us per field in the built-in worlds. */
struct price *prices_new(const struct farlands_terrain *terrain);

/* The price per sample, among many samples STEP units apart. Takes nanoseconds. */
uint64_t price_of_field(const struct price *price, int64_t step, bool band_limit);

/* A dear tile, with 256 x 256 samples. */
struct dear_tile {
    uint64_t price;
    int field;    /* that it shows */
    int64_t step; /* units */
    int dearest;  /* the field whose own operations take the largest part, */
    int percent;  /* and how much */
};

/*
 * Find the dearest tile that shows one of FIELDS, operations in PROGRAM, with samples up to 2^20
 * blocks apart. Tiles are exact. But if PROGRAM has rivers, those beyond TERRAIN_FAR are
 * band-limited, because farther apart each sample has to find other rivers.
 */
struct dear_tile price_dearest(const struct program *program, const int *field, int fields);

#endif
