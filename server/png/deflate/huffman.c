#include "huffman.h"

#include <assert.h>
#include <string.h>

/* An item has a symbol's count in the high bits, and the symbol in the low ones. */
enum { SYMBOL_BITS = 16, DIGIT_BITS = 10, DIGITS = 2 };

static int symbol_of(uint64_t item)
{
    return (int)(item & ((1 << SYMBOL_BITS) - 1));
}

/* Radix sort by counts below 2^(DIGIT_BITS * DIGITS). SPARE is as long as ITEMS. */
static void sort_by_count(uint64_t *items, uint64_t *spare, int n)
{
    for (int digit = 0; digit < DIGITS; digit++) {
        const int shift = SYMBOL_BITS + digit * DIGIT_BITS;
        uint16_t start[1 << DIGIT_BITS] = {0};
        int sum = 0;
        for (int i = 0; i < n; i++)
            start[items[i] >> shift & ((1 << DIGIT_BITS) - 1)]++;
        for (int value = 0; value < 1 << DIGIT_BITS; value++) {
            const int here = start[value];
            start[value] = (uint16_t)sum;
            sum += here;
        }
        for (int i = 0; i < n; i++)
            spare[start[items[i] >> shift & ((1 << DIGIT_BITS) - 1)]++] = items[i];
        memcpy(items, spare, (size_t)n * sizeof *items);
    }
}

/*
 * Moffat and Katajainen, "In-place calculation of minimum-redundancy codes" (1995): replaces N >= 2
 * weights, ascending, with code lengths, descending.
 */
static void minimum_redundancy(uint32_t *a, int n)
{
    int leaf = 0, root = 0;

    /* Join the two lightest tree nodes repeatedly: first weights of inner nodes, then parents. */
    for (int next = 0; next < n - 1; next++) {
        uint32_t weight = 0;
        for (int child = 0; child < 2; child++) {
            if (leaf >= n || (root < next && a[root] < a[leaf])) {
                weight += a[root];
                a[root++] = (uint32_t)next;
            } else
                weight += a[leaf++];
        }
        a[next] = weight;
    }
    /* From parents to depths. */
    a[n - 2] = 0;
    for (int node = n - 3; node >= 0; node--)
        a[node] = a[a[node]] + 1;
    /* From inner nodes' depths to leaves' depths. */
    int inner = n - 2, out = n - 1, free_nodes = 1;
    for (uint32_t depth = 0; free_nodes > 0; depth++) {
        int used = 0;
        while (inner >= 0 && a[inner] == depth) {
            used++;
            inner--;
        }
        while (free_nodes > used) {
            a[out--] = depth;
            free_nodes--;
        }
        free_nodes = 2 * used;
    }
}

/* NUMBER counts codes by length: change it so that no length is above LIMIT and the code is
 * complete. */
static void enforce_limit(int number[], int longest, int limit)
{
    /* The code space in use, in units of one code with LIMIT bits. */
    int64_t taken = 0;

    assert(limit >= 1 && limit <= HUFFMAN_BITS_MAX);
    for (int length = limit + 1; length <= longest; length++)
        number[limit] += number[length];
    for (int length = 1; length <= limit; length++)
        taken += (int64_t)number[length] << (limit - length);
    /* Make the longest code below LIMIT one bit longer, and a code with LIMIT bits its sibling:
     * that frees one unit. */
    for (; taken > INT64_C(1) << limit; taken--) {
        int length = limit - 1;
        while (number[length] == 0)
            length--;
        number[length]--;
        number[length + 1] += 2;
        number[limit]--;
    }
}

void huffman_lengths(const uint32_t *count, int symbols, int limit, uint8_t *length)
{
    uint64_t items[HUFFMAN_SYMBOLS_MAX], spare[HUFFMAN_SYMBOLS_MAX];
    uint32_t depth[HUFFMAN_SYMBOLS_MAX], all = 0;
    int number[HUFFMAN_SYMBOLS_MAX + 1] = {0}, n = 0, scale = 0;

    for (int i = 0; i < symbols; i++)
        all += count[i];
    /* A scaled count plus one must fit in the digits. */
    while (all >> scale >= (1 << DIGIT_BITS * DIGITS) - 1)
        scale++;
    for (int i = 0; i < symbols; i++) {
        length[i] = 0;
        if (count[i])
            items[n++] = (uint64_t)((count[i] >> scale) + !!scale) << SYMBOL_BITS | (unsigned)i;
    }
    if (n < 2) {
        if (n)
            length[symbol_of(items[0])] = 1;
        return;
    }
    sort_by_count(items, spare, n);
    for (int i = 0; i < n; i++)
        depth[i] = (uint32_t)(items[i] >> SYMBOL_BITS);
    minimum_redundancy(depth, n);
    const int longest = (int)depth[0];
    for (int i = 0; i < n; i++)
        number[depth[i]]++;
    if (longest > limit)
        enforce_limit(number, longest, limit);
    /* The rarest symbols get the longest codes. */
    for (int bits = longest < limit ? longest : limit, i = 0; bits > 0; bits--)
        for (int k = 0; k < number[bits]; k++, i++)
            length[symbol_of(items[i])] = (uint8_t)bits;
}

/* CODE's lowest BITS <= 16 bits in reverse order. */
static uint16_t reversed(unsigned code, int bits)
{
    code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
    code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
    code = (code & 0x0f0f) << 4 | (code >> 4 & 0x0f0f);
    code = (code & 0x00ff) << 8 | (code >> 8 & 0x00ff);
    return (uint16_t)(code >> (16 - bits));
}

void huffman_codes(const uint8_t *length, int symbols, uint16_t *code)
{
    unsigned next[HUFFMAN_BITS_MAX + 2] = {0}, number[HUFFMAN_BITS_MAX + 1] = {0};

    for (int i = 0; i < symbols; i++)
        number[length[i]]++;
    number[0] = 0;
    for (int bits = 1; bits <= HUFFMAN_BITS_MAX; bits++)
        next[bits + 1] = (next[bits] + number[bits]) << 1;
    for (int i = 0; i < symbols; i++)
        code[i] = length[i] ? reversed(next[length[i]]++, length[i]) : 0;
}
