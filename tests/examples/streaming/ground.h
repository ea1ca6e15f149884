/*
 * The ground around a player, streamed from a Farlands server. The world is a plane of squares,
 * GROUND_CELLS blocks wide: those within reach of the player are fetched, what is nearest first,
 * and those behind forgotten. Made to be copied into a game; needs libcurl 7.83. One thread.
 */
#ifndef GROUND_H
#define GROUND_H

#include <stdint.h>

enum {
    GROUND_CELLS = 16, /* 2^GROUND_CELLS_BITS */
    GROUND_CELLS_BITS = 4,
    /*
     * A square has one sample more than it has cells: those on its edges are its neighbours' as
     * well, bit for bit, so nothing has to be stitched.
     */
    GROUND_SIDE = GROUND_CELLS + 1,
    GROUND_SAMPLES = GROUND_SIDE * GROUND_SIDE,
    GROUND_REACH_MAX = 64,
    GROUND_CONNECTIONS = 6, /* as a browser has; each carries one request at a time */
};

struct ground_square {
    int64_t column, row;          /* from block (column, row) * GROUND_CELLS on */
    float height[GROUND_SAMPLES]; /* metres, a block apart, row by row, north first */
};

struct ground_options {
    const char *url;         /* of the world: http://127.0.0.1:8080/default */
    const char *fingerprint; /* that /{world}.json tells: the squares are all of the same world */
    int reach;               /* squares around the player's, 1 .. GROUND_REACH_MAX */
    /* A square has come, MS after it was asked for. It is there until it lies out of reach. */
    void (*arrived)(void *context, const struct ground_square *square, double ms);
    void *context;
};

struct ground_counts {
    unsigned long arrived;
    unsigned long dropped;   /* that had come, and lie out of reach now */
    unsigned long cancelled; /* out of reach before they came */
    unsigned long shed;      /* 503: the server asked to be left alone for a while */
    unsigned long lost;      /* to the network */
};

struct ground;

/* Keeps OPTIONS, the texts too. curl_global_init comes first. Returns 0 or -ENOMEM. */
int ground_new(struct ground **out, const struct ground_options *options);
void ground_free(struct ground *ground);

/*
 * Once a frame, with the block that the player is on: take what has come, forget what is distant,
 * ask for what is missing. Never waits. Returns 0, or, with a line on stderr, -EPROTO: the server
 * refuses, which asking again does not change, or its world is another one by now.
 */
int ground_turn(struct ground *ground, int64_t x, int64_t y);

/* Sleep until something comes, or for MS: for programs that have no picture to draw meanwhile. */
void ground_wait(struct ground *ground, int ms);

/* The square that block (x, y) is in, or NULL where it has not come. */
const struct ground_square *ground_at(const struct ground *ground, int64_t x, int64_t y);

const struct ground_counts *ground_counts(const struct ground *ground);

#endif
