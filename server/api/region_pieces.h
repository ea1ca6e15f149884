/*
 * Cuts a region or volume into pieces that are rendered one by one and sent in order: whole layers,
 * or rows of one layer if a layer is too large for a piece. Pure.
 */
#ifndef FARLANDS_API_REGION_PIECES_H
#define FARLANDS_API_REGION_PIECES_H

#include <stdint.h>

#include "noise/farlands.h"

struct region_pieces {
    unsigned count;
    uint64_t offset; /* bytes of the first piece before the range */
    /* Private. */
    struct farlands_box box; /* the samples that the range touches, without gaps */
    int rows, layers;        /* per piece; the last ones may have fewer */
    unsigned across;         /* pieces per layer; 1 if pieces are whole layers */
    unsigned first;          /* the piece in BOX that is number 0 */
};

/*
 * Reduce BOX, with a depth of at least 1, to the smallest box without gaps that holds LENGTH > 0
 * bytes from byte FIRST on, at SAMPLE_SIZE bytes per sample. Returns the number of BOX's first
 * byte.
 */
uint64_t region_pieces_narrow(struct farlands_box *box, unsigned sample_size, uint64_t first,
                              uint64_t length);

/* Cut BOX, with a depth of at least 1. Pieces have at most MOST samples, but at least a row, and at
 * most RENDER_PIECE_MAX. */
void region_pieces_cut(struct region_pieces *pieces, const struct farlands_box *box, uint64_t most);

/* Keep only pieces with some of the box's LENGTH > 0 bytes from byte FIRST on. */
void region_pieces_keep(struct region_pieces *pieces, unsigned sample_size, uint64_t first,
                        uint64_t length);

/* How many samples the largest piece has. */
uint64_t region_pieces_largest(const struct region_pieces *pieces);

/* Piece NUMBER, less than count. */
struct farlands_box region_pieces_box(const struct region_pieces *pieces, unsigned number);

#endif
