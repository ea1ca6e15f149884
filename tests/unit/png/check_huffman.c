/* Huffman codes, and their lengths against two independent optimal algorithms. */
#include <inttypes.h>

#include "server/png/deflate/huffman.h"
#include "tests/unit/support/fixtures.h"

enum { SYMBOLS = HUFFMAN_SYMBOLS_MAX, LIMIT = HUFFMAN_BITS_MAX };

enum counts { RANDOM, SMALL, GEOMETRIC, FIBONACCI, FLAT, SPARSE, ONE_HUGE, COUNTS };

/* Fill COUNT in a random order. Returns how many of the symbols occur. */
static int fill(uint32_t *count, enum counts counts, int symbols, uint64_t *state)
{
    uint32_t before = 1, last = 1;
    int occur = 0;
    for (int i = 0; i < symbols; i++) {
        switch (counts) {
        case RANDOM:
            count[i] = (uint32_t)chance_below(state, 1 << 23);
            break;
        case SMALL:
            count[i] = (uint32_t)chance_below(state, 4);
            break;
        case GEOMETRIC:
            count[i] = UINT32_C(1) << (i < 31 ? i : 0);
            break;
        case FIBONACCI:
            count[i] = i < 44 ? last : 1;
            last += before;
            before = last - before;
            break;
        case FLAT:
            count[i] = 1000;
            break;
        case SPARSE:
            count[i] = chance_below(state, 8) ? 0 : (uint32_t)chance_below(state, 1 << 20);
            break;
        default:
            count[i] = i ? 1 : UINT32_MAX - SYMBOLS;
        }
        occur += count[i] > 0;
    }
    for (int i = symbols - 1; i > 0; i--) {
        int other = chance_below(state, i + 1);
        uint32_t swap = count[i];
        count[i] = count[other];
        count[other] = swap;
    }
    return occur;
}

/* Huffman's algorithm: join the two rarest trees. Returns the bits of the message. */
static uint64_t huffman_bits(const uint32_t *count, int symbols)
{
    uint64_t tree[SYMBOLS], bits = 0;
    int trees = 0;
    for (int i = 0; i < symbols; i++)
        if (count[i])
            tree[trees++] = count[i];
    while (trees > 1) {
        for (int i = 0; i < 2; i++) { /* move the rarest to the end, then the next before it */
            int rarest = 0;
            for (int j = 1; j < trees - i; j++)
                rarest = tree[j] < tree[rarest] ? j : rarest;
            uint64_t swap = tree[rarest];
            tree[rarest] = tree[trees - 1 - i];
            tree[trees - 1 - i] = swap;
        }
        trees--;
        bits += tree[trees - 1] += tree[trees];
    }
    return bits;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/*
 * Package-merge (Larmore and Hirschberg 1990), optimal codes of up to LIMIT bits: in each of LIMIT
 * rounds the symbols are coins, beside pairs of the last round's cheapest coins. The 2n - 2
 * cheapest coins of the last round add up to the bits of the message.
 */
static uint64_t package_merge_bits(const uint32_t *count, int symbols, int limit)
{
    uint64_t coin[2 * SYMBOLS], bits = 0;
    int coins = 0, n = 0;
    for (int i = 0; i < symbols; i++)
        n += count[i] > 0;
    for (int turn = 0; turn < limit; turn++) {
        for (int i = 0; i < coins / 2; i++)
            coin[i] = coin[2 * i] + coin[2 * i + 1];
        coins /= 2;
        for (int i = 0; i < symbols; i++)
            if (count[i])
                coin[coins++] = count[i];
        qsort(coin, (size_t)coins, sizeof *coin, compare);
    }
    for (int i = 0; i < 2 * n - 2; i++)
        bits += coin[i];
    return bits;
}

/*
 * The promises of huffman.h, with at most EXCESS percent over the optimum if LIMIT binds. Counts
 * that add up to more than 20 bits may be rounded to 20.
 */
static void check_lengths(const uint32_t *count, int symbols, int limit, unsigned excess,
                          const char *what)
{
    uint8_t length[SYMBOLS + 1];
    int occur = 0;
    uint64_t bits = 0, places = 0, all = 0;
    for (int i = 0; i < symbols; i++)
        all += count[i];
    const uint32_t alike = (uint32_t)(all >> 19);
    memset(length, 0x5a, sizeof length);
    huffman_lengths(count, symbols, limit, length);
    must(length[symbols] == 0x5a, "%s, %d symbols: wrote behind them", what, symbols);
    for (int i = 0; i < symbols; i++) {
        must(count[i] ? length[i] >= 1 && length[i] <= limit : !length[i],
             "%s, %d symbols, %d bits: %d bits for %u times", what, symbols, limit, length[i],
             count[i]);
        if (!count[i])
            continue;
        occur++;
        bits += (uint64_t)count[i] * length[i];
        places += UINT64_C(1) << (limit - length[i]);
        for (int j = 0; j < symbols; j++)
            must(!count[j] || count[j] <= count[i] || count[j] - count[i] <= alike ||
                     length[j] <= length[i],
                 "%s, %d symbols, %d bits: %u times %d, but %u times %d", what, symbols, limit,
                 count[i], length[i], count[j], length[j]);
    }
    if (occur == 0)
        return;
    must(places == UINT64_C(1) << (occur > 1 ? limit : limit - 1),
         "%s, %d symbols, %d bits: not complete", what, symbols, limit);
    if (occur == 1)
        return;
    const uint64_t best = package_merge_bits(count, symbols, limit);
    const bool binds = best > huffman_bits(count, symbols);
    const uint64_t more = binds ? best * excess / 100 : alike ? best / 100000 : 0;
    must(bits >= best && bits <= best + more, "%s, %d symbols, %d bits: %" PRIu64 ", best %" PRIu64,
         what, symbols, limit, bits, best);
}

START_TEST(test_lengths)
{
    static const char *const names[COUNTS] = {"random", "small",  "geometric", "Fibonacci",
                                              "flat",   "sparse", "one huge"};
    uint32_t count[SYMBOLS];
    uint64_t state = (uint64_t)_i;
    const enum counts counts = (enum counts)_i;
    for (int symbols = 0; symbols <= SYMBOLS; symbols++) {
        const bool all = symbols <= 40 || symbols % 32 <= 1 || symbols >= SYMBOLS - 2;
        const int occur = fill(count, counts, symbols, &state);
        for (int limit = 1; limit <= LIMIT; limit++) {
            /* Tight limits cost more than necessary; so do the widest if each count is half
             * the next one. What the encoder needs is in test_lengths_of_lengths and here. */
            const unsigned excess = limit < 14 ? 75 : counts == GEOMETRIC ? 4 : 1;
            if (occur <= 1 << limit && (all || limit >= 14))
                check_lengths(count, symbols, limit, excess, names[counts]);
        }
    }
}
END_TEST

/* A block's code lengths, up to 290, get codes of up to 7 bits (RFC 1951, 3.2.7). */
START_TEST(test_lengths_of_lengths)
{
    uint64_t state = 20;
    for (int i = 0; i < 20000; i++) {
        uint32_t count[19] = {0};
        const int kinds = 1 + chance_below(&state, 19), steep = 1 + chance_below(&state, 6);
        for (int left = 1 + chance_below(&state, 290); left > 0; left--)
            count[__builtin_clzll(chance(&state)) * steep / 3 % kinds]++;
        check_lengths(count, 19, 7, 2, "lengths");
    }
}
END_TEST

static const struct {
    const char *what;
    int symbols, limit;
    uint32_t count[8];
    uint8_t length[8];
} rows[] = {
    {"nothing", 8, 15, {0}, {0}},
    {"one", 8, 15, {[3] = 9}, {[3] = 1}},
    {"one, the most there can be", 3, 15, {[2] = UINT32_MAX}, {[2] = 1}},
    {"one, one bit", 1, 1, {1}, {1}},
    {"two", 2, 1, {1, 1000}, {1, 1}},
    {"two halves", 2, 15, {0x7fffffff, 0x7fffffff}, {1, 1}},
    {"near 2^31, and rare ones", 4, 15, {0x7ffffff0, 1, 2, 0x7ffffff0}, {1, 3, 3, 2}},
    {"nearly all", 3, 15, {1, UINT32_MAX - 3, 1}, {2, 1, 2}},
    {"powers of two", 5, 15, {1, 1, 2, 4, 8}, {4, 4, 3, 2, 1}},
    {"powers of two, short", 5, 3, {1, 1, 2, 4, 8}, {3, 3, 3, 3, 1}},
    {"just room", 8, 3, {1, 10, 100, 1000, 10000, 100000, 1000000, 1}, {3, 3, 3, 3, 3, 3, 3, 3}},
    {"just room, with gaps", 6, 2, {5, 0, 1 << 30, 1, 0, 1}, {2, 0, 2, 2, 0, 2}},
};

/* Counts with a single right set of lengths. */
START_TEST(test_rows)
{
    uint8_t length[8] = {0};
    huffman_lengths(rows[_i].count, rows[_i].symbols, rows[_i].limit, length);
    uint64_t bits = 0, expected = 0;
    for (int i = 0; i < rows[_i].symbols; i++) {
        bits += (uint64_t)rows[_i].count[i] * length[i];
        expected += (uint64_t)rows[_i].count[i] * rows[_i].length[i];
        ck_assert_msg(!length[i] == !rows[_i].length[i], "%s: %d bits for symbol %d", rows[_i].what,
                      length[i], i);
    }
    ck_assert_msg(bits == expected, "%s: %" PRIu64 " bits, not %" PRIu64, rows[_i].what, bits,
                  expected);
    check_lengths(rows[_i].count, rows[_i].symbols, rows[_i].limit, 0, rows[_i].what);
}
END_TEST

static unsigned reversed(unsigned code, int bits)
{
    unsigned out = 0;
    for (int bit = 0; bit < bits; bit++)
        out |= (code >> bit & 1) << (bits - 1 - bit);
    return out;
}

/*
 * Shorter codes come before longer ones, equally long ones in the order of their symbols (RFC 1951,
 * 3.2.2): a code is the code space taken by those before it. No code is a prefix of another, and
 * the code space is used up.
 */
static void check_codes(const uint8_t *length, int symbols, bool complete)
{
    static uint8_t taken[1 << LIMIT];
    uint16_t code[SYMBOLS + 1];
    unsigned all = 0;
    memset(code, 0x5a, sizeof code);
    memset(taken, 0, sizeof taken);
    huffman_codes(length, symbols, code);
    for (int i = 0; i < symbols; i++) {
        unsigned before = 0;
        if (!length[i])
            continue;
        for (int j = 0; j < symbols; j++)
            if (length[j] && (length[j] < length[i] || (length[j] == length[i] && j < i)))
                before += 1u << (LIMIT - length[j]);
        unsigned expected = reversed(before >> (LIMIT - length[i]), length[i]);
        must(code[i] == expected, "%d symbols: %x, not %x, of %d bits, for symbol %d", symbols,
             code[i], expected, length[i], i);
        for (unsigned next = code[i]; next < 1u << LIMIT; next += 1u << length[i], all++)
            must(!taken[next]++, "%d symbols: symbol %d begins like another", symbols, i);
    }
    must(!complete || all == 1u << LIMIT, "%d symbols: %u of %d taken", symbols, all, 1 << LIMIT);
    must(code[symbols] == 0x5a5a, "%d symbols: wrote behind them", symbols);
}

START_TEST(test_codes)
{
    uint32_t count[SYMBOLS];
    uint8_t length[SYMBOLS];
    uint64_t state = 5;
    for (enum counts counts = 0; counts < COUNTS; counts++) {
        for (int symbols = 0; symbols <= SYMBOLS; symbols++) {
            int occur = fill(count, counts, symbols, &state);
            int limit = 9 + chance_below(&state, LIMIT - 8);
            huffman_lengths(count, symbols, limit, length);
            check_codes(length, symbols, occur >= 2);
        }
    }
}
END_TEST

/* The example in RFC 1951, 3.2.2, and the fixed codes in 3.2.6. */
START_TEST(test_codes_of_the_rfc)
{
    static const uint8_t length[] = {3, 3, 3, 3, 3, 2, 4, 4};
    static const uint8_t expected[] = {2, 3, 4, 5, 6, 0, 14, 15};
    uint16_t code[SYMBOLS];
    huffman_codes(length, ROWS(length), code);
    for (int i = 0; i < ROWS(length); i++)
        ck_assert_uint_eq(code[i], reversed(expected[i], length[i]));

    uint8_t fixed[SYMBOLS];
    for (int i = 0; i < SYMBOLS; i++)
        fixed[i] = (uint8_t)(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    check_codes(fixed, SYMBOLS, true);
    huffman_codes(fixed, SYMBOLS, code);
    ck_assert_uint_eq(code[0], reversed(0x30, 8));
    ck_assert_uint_eq(code[144], reversed(0x190, 9));
    ck_assert_uint_eq(code[256], 0);
    ck_assert_uint_eq(code[287], reversed(0xc7, 8));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("huffman");
    TCase *tcase = suite_case(suite, "huffman");
    tcase_add_loop_test(tcase, test_lengths, 0, COUNTS);
    tcase_add_test(tcase, test_lengths_of_lengths);
    tcase_add_loop_test(tcase, test_rows, 0, ROWS(rows));
    tcase_add_test(tcase, test_codes);
    tcase_add_test(tcase, test_codes_of_the_rfc);
    return suite_run(suite);
}
