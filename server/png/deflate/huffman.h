/* Huffman codes for deflate (RFC 1951, 3.2.2). Pure. */
#ifndef FARLANDS_PNG_DEFLATE_HUFFMAN_H
#define FARLANDS_PNG_DEFLATE_HUFFMAN_H

#include <stdint.h>

enum { HUFFMAN_SYMBOLS_MAX = 288, HUFFMAN_BITS_MAX = 15 };

/*
 * Set LENGTH[i] to the code length for symbol i, which occurs COUNT[i] times: 0 if never, otherwise
 * 1 to LIMIT bits. The code is complete, or has a single symbol with one bit; and nearly optimal
 * within LIMIT. Counts add up to less than 2^32; at most 2^LIMIT are not 0.
 */
void huffman_lengths(const uint32_t *count, int symbols, int limit, uint8_t *length);

/* The canonical codes for these lengths, with the first bit lowest. */
void huffman_codes(const uint8_t *length, int symbols, uint16_t *code);

#endif
