/* Huffman codes as deflate has them (RFC 1951, 3.2.2). Pure. */
#ifndef FARLANDS_PNG_DEFLATE_HUFFMAN_H
#define FARLANDS_PNG_DEFLATE_HUFFMAN_H

#include <stdint.h>

enum { HUFFMAN_SYMBOLS_MAX = 288, HUFFMAN_BITS_MAX = 15 };

/*
 * For each of SYMBOLS symbols, which occur COUNT times, the length of its code:
 * 0 where it never occurs, otherwise 1 to LIMIT bits, such that the codes are
 * complete (or one of one bit) and the message is nearly as short as LIMIT lets
 * it be. Counts add up to less than 2^32; symbols that occur, to at most 2^LIMIT.
 */
void huffman_lengths(const uint32_t *count, int symbols, int limit, uint8_t *length);

/* The canonical codes for these lengths, their first bit lowest. */
void huffman_codes(const uint8_t *length, int symbols, uint16_t *code);

#endif
