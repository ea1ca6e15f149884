/*
 * A zlib stream (RFC 1950, 1951) for filtered rows of pictures of terrain:
 * these hold hardly a repetition that is worth searching for, but small
 * numbers, which Huffman coding shortens, and runs of the same. Everything else
 * is allowed, and becomes 11 bytes longer at most, and 5 for each 65535.
 */
#ifndef FARLANDS_PNG_DEFLATE_DEFLATE_H
#define FARLANDS_PNG_DEFLATE_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "adler.h"

/* What one stream can hold: a run in it is counted in 24 bits. */
enum { DEFLATE_LENGTH_MAX = (1 << 24) - 1 };

/* Working memory for one stream at a time of up to LENGTH <= DEFLATE_LENGTH_MAX bytes. */
struct deflate;
int deflate_new(struct deflate **out, size_t length); /* 0 or -ENOMEM */
void deflate_free(struct deflate *deflate);

/* What must be readable, though not of any value, behind the bytes. */
enum { DEFLATE_SLACK = 64 };

/*
 * Compress LENGTH bytes. FAR, 1 to 4, is the distance at which they may repeat
 * themselves, besides 1: the bytes of a pixel. Returns the stream, which stays
 * valid until the next call, and its length in *STREAM_LENGTH. The same bytes
 * give the same stream, on any machine.
 */
const uint8_t *deflate_stream(struct deflate *deflate, const uint8_t *bytes, size_t length,
                              unsigned far, size_t *stream_length);

/*
 * A stream in parts, each encoded by itself, anywhere and in any order:
 * deflate_head, the parts in the order of their bytes, and deflate_tail, one
 * right behind the other.
 */
enum { DEFLATE_HEAD = 2, DEFLATE_TAIL = 9 };
extern const uint8_t deflate_head[DEFLATE_HEAD];

/*
 * As deflate_stream, but a part: of whole bytes, it refers to none of the others,
 * and becomes 5 bytes longer at most, and 5 for each 65535.
 */
const uint8_t *deflate_part(struct deflate *deflate, const uint8_t *bytes, size_t length,
                            unsigned far, size_t *part_length);

/* The end of a stream whose parts hold bytes of this sum. */
void deflate_tail(uint8_t tail[DEFLATE_TAIL], const struct adler *adler);

#endif
