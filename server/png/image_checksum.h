/* The chunk flKY, which binds a tile's file to its key: in PNG, and in WebP, a RIFF file. */
#ifndef FARLANDS_PNG_IMAGE_CHECKSUM_H
#define FARLANDS_PNG_IMAGE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The chunk's type. The case of its letters (PNG specification, 5.4) says that decoders ignore it
 * (f), that it is private (l), and that programs that change the picture must drop it (Y), since it
 * depends on every byte. It comes last, before IEND. In RIFF any type that nobody knows is ignored.
 */
#define IMAGE_CHECKSUM_TYPE "flKY"
enum {
    IMAGE_CHECKSUM = 16,                      /* bytes in the chunk */
    IMAGE_CHECKSUM_RIFF = 8 + IMAGE_CHECKSUM, /* the whole chunk, in RIFF */
};

/*
 * The content of the chunk of the tile KEY: a hash of 128 bits of KEY and of the BYTES before the
 * chunk. The same on every machine. It finds accidents: whoever may write files can compute it.
 */
void image_checksum(uint8_t out[IMAGE_CHECKSUM], const uint8_t *bytes, size_t length,
                    const char *key);

/* The whole chunk of the tile KEY at the end of a RIFF file, after its BYTES. */
void image_checksum_riff(uint8_t out[IMAGE_CHECKSUM_RIFF], const uint8_t *bytes, size_t length,
                         const char *key);

/* True if BYTES are the whole file that was encoded for KEY, and no other: its last chunk must be
 * flKY, as computed here, and in PNG be followed by IEND. Pixels are not decoded. Any thread. */
bool image_checksum_verify(const uint8_t *bytes, size_t length, const char *key);

#endif
