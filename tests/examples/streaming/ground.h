/*
 * The ground around a player, streamed from a Farlands server. The world is a plane of squares,
 * GROUND_CELLS blocks wide. Squares within reach of the player are fetched, nearest first; distant
 * ones are dropped. Made to be copied into a game: standard C11 and libcurl 7.83.
 * One thread.
 */
#ifndef GROUND_H
#define GROUND_H

#include <stdint.h>

enum {
    GROUND_CELLS = 16, /* 2^GROUND_CELLS_BITS */
    GROUND_CELLS_BITS = 4,
    /*
     * A square has one sample more than it has cells. Neighbors share the samples on their edges,
     * bit for bit, so nothing has to be stitched.
     */
    GROUND_SIDE = GROUND_CELLS + 1,
    GROUND_SAMPLES = GROUND_SIDE * GROUND_SIDE,
    GROUND_REACH_MAX = 64,
    GROUND_CONNECTIONS = 6, /* like a browser; each carries one request at a time */
};

struct ground_square {
    int64_t column, row;          /* its first block is (column, row) * GROUND_CELLS */
    float height[GROUND_SAMPLES]; /* metres, a block apart, row by row, north first */
};

struct ground_options {
    const char *url;         /* of the world: http://127.0.0.1:8080/default */
    const char *fingerprint; /* from /{world}.json; all squares must have it */
    int reach;               /* squares around the player's, 1 .. GROUND_REACH_MAX */
    /* A square has arrived, MS after its request. It is valid until it is out of reach. */
    void (*arrived)(void *context, const struct ground_square *square, double ms);
    void *context;
};

struct ground_counts {
    unsigned long arrived;
    unsigned long dropped;   /* out of reach after they arrived */
    unsigned long cancelled; /* out of reach before they arrived */
    unsigned long shed;      /* refused with 503 */
    unsigned long lost;      /* network errors */
};

struct ground;

/* Call curl_global_init first. The strings of OPTIONS must outlive it. Returns 0 or -ENOMEM. */
int ground_new(struct ground **out, const struct ground_options *options);
void ground_free(struct ground *ground);

/*
 * Call it once per frame with the player's block and the game's time in seconds, which never goes
 * back: takes responses, drops distant squares, requests missing ones. Never blocks. Returns 0; or
 * -EPROTO, with a line on stderr, if the server refuses for good or now has another world of this
 * name.
 */
int ground_turn(struct ground *ground, int64_t x, int64_t y, double now);

/* Wait up to MS for network activity, for programs without a picture to draw. */
void ground_wait(struct ground *ground, int ms);

/* The square of block (x, y), or NULL if it has not arrived. */
const struct ground_square *ground_at(const struct ground *ground, int64_t x, int64_t y);

const struct ground_counts *ground_counts(const struct ground *ground);

#endif
