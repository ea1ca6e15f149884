/* Verification of a PNG file by its own checksums. */
#ifndef FARLANDS_PNG_IMAGE_VERIFY_H
#define FARLANDS_PNG_IMAGE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * True if BYTES are a whole PNG file of WIDTH x HEIGHT pixels: the CRCs of all chunks are right,
 * IHDR is first, there is an IDAT, and IEND ends the file. Pixels are not decoded, since a CRC
 * covers every byte of them. Any thread.
 */
bool image_verify(const uint8_t *bytes, size_t length, uint32_t width, uint32_t height);

#endif
