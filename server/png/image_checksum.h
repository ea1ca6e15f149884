/* The chunk flKY, which binds a tile's file to its key: in PNG, and in WebP, a RIFF file. */
#ifndef FARLANDS_PNG_IMAGE_CHECKSUM_H
#define FARLANDS_PNG_IMAGE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The chunk's type. Its letters (PNG specification, 5.4) say: decoders ignore the chunk (f), which
 * is private (l), and a program that changes the picture must drop it (Y), because the content
 * depends on every byte. The chunk comes last, before IEND. In RIFF readers ignore unknown types.
 */
#define IMAGE_CHECKSUM_TYPE "flKY"
enum {
    IMAGE_CHECKSUM = 16,                      /* bytes in the chunk */
    IMAGE_CHECKSUM_RIFF = 8 + IMAGE_CHECKSUM, /* the whole chunk, in RIFF */
};

/*
 * The chunk's content for the tile KEY: a 128-bit hash of KEY and all BYTES before the chunk. The
 * same on every machine. Finds accidents, but no attacks: whoever may write files can compute the
 * hash.
 */
void image_checksum(uint8_t out[IMAGE_CHECKSUM], const uint8_t *bytes, size_t length,
                    const char *key);

/* The whole chunk for the tile KEY, behind the BYTES of a RIFF file. */
void image_checksum_riff(uint8_t out[IMAGE_CHECKSUM_RIFF], const uint8_t *bytes, size_t length,
                         const char *key);

/* True if BYTES are the whole file that was encoded for KEY, and no other: the last chunk must be
 * flKY, as computed here, in PNG before IEND. Pixels are not decoded. Any thread. */
bool image_checksum_verify(const uint8_t *bytes, size_t length, const char *key);

#endif
