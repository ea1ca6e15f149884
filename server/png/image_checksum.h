/* The chunk flKY, which binds a tile's file to its key. */
#ifndef FARLANDS_PNG_IMAGE_CHECKSUM_H
#define FARLANDS_PNG_IMAGE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The chunk's type. The case of its letters (PNG specification, 5.4) says that decoders ignore it
 * (f), that it is private (l), and that programs that change the picture must drop it (Y), since it
 * depends on every byte. It comes last, before IEND.
 */
#define IMAGE_CHECKSUM_TYPE "flKY"
enum { IMAGE_CHECKSUM = 16 /* bytes in the chunk */ };

/*
 * The content of the chunk of the tile KEY: a hash of 128 bits of KEY and of the BYTES before the
 * chunk. The same on every machine. It finds accidents: whoever may write files can compute it.
 */
void image_checksum(uint8_t out[IMAGE_CHECKSUM], const uint8_t *bytes, size_t length,
                    const char *key);

/* True if BYTES are the whole file that was encoded for KEY, and no other: its last chunks must be
 * flKY, as computed here, and IEND. Pixels are not decoded. Any thread. */
bool image_checksum_verify(const uint8_t *bytes, size_t length, const char *key);

#endif
