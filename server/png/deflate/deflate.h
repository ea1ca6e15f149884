/*
 * A zlib encoder (RFC 1950, 1951) for filtered terrain rows. They have mostly small numbers, which
 * Huffman coding shortens, and runs, but hardly any other repetition worth a search. Other input
 * grows by at most 11 bytes, plus 5 per 65535.
 */
#ifndef FARLANDS_PNG_DEFLATE_DEFLATE_H
#define FARLANDS_PNG_DEFLATE_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

#include "adler.h"

/* Bytes per stream: a run is counted in 24 bits. */
enum { DEFLATE_LENGTH_MAX = (1 << 24) - 1 };

/* Working memory for one stream at a time, up to LENGTH <= DEFLATE_LENGTH_MAX bytes. */
struct deflate;
int deflate_new(struct deflate **out, size_t length); /* 0 or -ENOMEM */
void deflate_free(struct deflate *deflate);

/* So many bytes beyond the input must be readable; their values do not matter. */
enum { DEFLATE_SLACK = 64 };

/*
 * Compress LENGTH bytes. Runs are found at distances 1 and PIXEL_BYTES, the bytes per pixel, 1
 * to 4. Returns the stream, valid until the next call; *STREAM_LENGTH is its length. The same bytes
 * give the same stream on any machine.
 */
const uint8_t *deflate_stream(struct deflate *deflate, const uint8_t *bytes, size_t length,
                              unsigned pixel_bytes, size_t *stream_length);

/* A stream in independently encoded parts is the concatenation of deflate_head, the parts, and
 * deflate_tail. */
enum { DEFLATE_HEAD = 2, DEFLATE_TAIL = 9 };
extern const uint8_t deflate_head[DEFLATE_HEAD];

/* As deflate_stream, for one part: whole bytes that refer to no other part. Grows by at most 5
 * bytes, plus 5 per 65535. */
const uint8_t *deflate_part(struct deflate *deflate, const uint8_t *bytes, size_t length,
                            unsigned pixel_bytes, size_t *part_length);

/* A stream's end; ADLER is for all parts' bytes. */
void deflate_tail(uint8_t tail[DEFLATE_TAIL], const struct adler *adler);

#endif
