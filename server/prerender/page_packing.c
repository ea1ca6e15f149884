#include "page_packing.h"

#include <assert.h>
#include <stdlib.h>

/* The most of a row that lies in a leaf, and the least where that is not all. */
enum { LOCAL_MOST = PACKING_PAGE - 35, LOCAL_LEAST = (PACKING_PAGE - 12) * 32 / 255 - 23 };

enum { OVERFLOW_PAGE = PACKING_PAGE - 4, OVERFLOW_NUMBER = 4, CELL_POINTER = 2 };

static int varint_bytes(uint64_t value)
{
    int bytes = 1;
    while (value >>= 7)
        bytes++;
    return bytes;
}

/* Of an integer in a record, besides its type. */
static int integer_bytes(int64_t value)
{
    static const struct {
        int64_t end;
        int bytes;
    } sizes[] = {
        {2, 0},       {1 << 7, 1},           {1 << 15, 2},
        {1 << 23, 3}, {INT64_C(1) << 31, 4}, {INT64_C(1) << 47, 6},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (value < sizes[i].end)
            return sizes[i].bytes;
    return 8;
}

int packing_cell(int64_t rowid, const int64_t *integers, int count, size_t length)
{
    /* The header: its own size, and a type a value, which for a blob has its length. */
    size_t payload = 1 + (size_t)count + (size_t)varint_bytes(2 * length + 12) + length;
    for (int i = 0; i < count; i++)
        payload += (size_t)integer_bytes(integers[i]);
    const int head = varint_bytes(payload) + varint_bytes((uint64_t)rowid) + CELL_POINTER;
    if (payload <= LOCAL_MOST)
        return head + (int)payload;
    const int rest = LOCAL_LEAST + (int)((payload - LOCAL_LEAST) % OVERFLOW_PAGE);
    return head + (rest <= LOCAL_MOST ? rest : LOCAL_LEAST) + OVERFLOW_NUMBER;
}

struct cell {
    int bytes, row;
};

static int compare_cells(const void *a, const void *b)
{
    return ((const struct cell *)b)->bytes - ((const struct cell *)a)->bytes;
}

void packing_order(int *room, const int *cells, int count, int *order)
{
    struct cell left[PACKING_ROWS];
    assert(count <= PACKING_ROWS);
    for (int i = 0; i < count; i++)
        left[i] = (struct cell){cells[i], i};
    qsort(left, (size_t)count, sizeof *left, compare_cells);
    for (int placed = 0; placed < count;) {
        /* From the largest on: what has not fitted will not, for the room only shrinks. */
        int kept = 0, looked_at = count - placed;
        for (int i = 0; i < looked_at; i++)
            if (left[i].bytes <= *room) {
                *room -= left[i].bytes;
                order[placed++] = left[i].row;
            } else {
                left[kept++] = left[i];
            }
        if (kept > 0)
            *room = PACKING_LEAF;
    }
}
