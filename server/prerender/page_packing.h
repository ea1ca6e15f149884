/*
 * In which order rows go into an SQLite table, so that little of its pages stays empty. A row that
 * is longer than a page fills pages of its own, but for a rest, which lies in a leaf with those of
 * its neighbours; and where the next rest does not fit, what is left of the leaf stays empty for
 * good. Pure, and a matter of size alone: in any order a table is right.
 * https://www.sqlite.org/fileformat2.html, 1.6 and 2.
 */
#ifndef FARLANDS_PRERENDER_PAGE_PACKING_H
#define FARLANDS_PRERENDER_PAGE_PACKING_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of a page; of a leaf, what cells have. */
enum { PACKING_PAGE = 2048, PACKING_LEAF = PACKING_PAGE - 8 };

/* The most rows that are put in order at once. */
enum { PACKING_ROWS = 512 };

/* What of a row that is COUNT INTEGERS, 0 or more each, and a blob of LENGTH bytes lies in its
 * leaf: its cell, and what leads there. */
int packing_cell(int64_t rowid, const int64_t *integers, int count, size_t length);

/*
 * The ORDER of rows 0 to COUNT - 1, whose CELLS those are: the next is the largest that fits
 * the leaf, of which *ROOM is left before and afterwards.
 */
void packing_order(int *room, const int *cells, int count, int *order);

#endif
