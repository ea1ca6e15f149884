/* Whether bytes are a whole PNG file, by its own checksums. */
#ifndef FARLANDS_PNG_IMAGE_VERIFY_H
#define FARLANDS_PNG_IMAGE_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * True where BYTES are a PNG of WIDTH x HEIGHT whose chunks all have their
 * right CRC, with IHDR first, IDAT in between, IEND last and nothing behind
 * it. The pixels are not decoded: a CRC covers every byte of them. Any thread.
 */
bool image_verify(const uint8_t *bytes, size_t length, uint32_t width, uint32_t height);

#endif
