/* Bytes as codes: all implementations against a bit-by-bit one. */
#include <inttypes.h>

#include "server/png/deflate/literals.h"
#include "tests/unit/support/fixtures.h"

enum { LITERALS_TRIED = 300, LITERALS_MANY = 5000, OUT_MAX = 2 * LITERALS_MANY + 64 };

/* Codes of MIN to MAX bits; here they need not be distinct. */
static void literal_codes_fill(struct literal_codes *codes, int min, int max, uint64_t *state)
{
    for (int i = 0; i < LITERALS; i++) {
        codes->length[i] = (uint8_t)(min + chance_below(state, max - min + 1));
        codes->code[i] = (uint16_t)(chance(state) & ((1u << codes->length[i]) - 1));
    }
}

/* Write bit by bit. Returns the number of bits. */
static size_t literals_put_bits(uint8_t *out, unsigned pending, unsigned count,
                                const struct literal_codes *codes, const uint8_t *bytes,
                                size_t length)
{
    size_t at = count;
    memset(out, 0, OUT_MAX);
    out[0] = (uint8_t)pending;
    for (size_t i = 0; i < length; i++)
        for (int bit = 0; bit < codes->length[bytes[i]]; bit++, at++)
            out[at / 8] |= (uint8_t)((codes->code[bytes[i]] >> bit & 1) << at % 8);
    return at;
}

/* The buffer has the room that bits.h asks for, and not a byte more. */
static void check_literals(literals_put *put, const char *name, struct guarded *out,
                           const struct literal_codes *codes, const uint8_t *bytes, size_t length,
                           uint64_t *state)
{
    static uint8_t expected[OUT_MAX];
    for (unsigned count = 0; count < 8; count++) {
        unsigned pending = (unsigned)chance(state) & ((1u << count) - 1);
        size_t all = literals_put_bits(expected, pending, count, codes, bytes, length);
        uint8_t *begin = guarded_bytes(out, all / 8 + 8, false);
        struct bits bits = {begin, pending, count};
        put(&bits, codes, bytes, length);
        must(bits.out == begin + all / 8 && bits.count == all % 8,
             "%s, %zu bytes: %zu bytes and %u bits, not %zu bits", name, length,
             (size_t)(bits.out - begin), bits.count, all);
        must(bits.pending == expected[all / 8], "%s, %zu bytes: %" PRIx64 " wait, not %x", name,
             length, bits.pending, expected[all / 8]);
        must(memcmp(begin, expected, all / 8) == 0, "%s, %zu bytes: other bits", name, length);
    }
}

static const struct {
    int min, max;
} code_bits[] = {{1, 14}, {14, 14}, {1, 1}, {8, 8}, {1, 3}, {12, 14}, {7, 9}, {3, 13}};

START_TEST(test_literals)
{
    uint8_t bytes[LITERALS_MANY];
    struct literal_codes codes;
    struct guarded memory, out;
    uint64_t state = (uint64_t)_i;
    guarded_new(&memory, sizeof bytes);
    guarded_new(&out, OUT_MAX);
    literal_codes_fill(&codes, code_bits[_i].min, code_bits[_i].max, &state);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)chance(&state);
    for (size_t length = 0; length <= LITERALS_TRIED + 1; length++) {
        size_t some = length > LITERALS_TRIED ? LITERALS_MANY : length;
        for (int first = 0; first < 2; first++) {
            uint8_t *copy = memcpy(guarded_bytes(&memory, some, first), bytes, some);
            check_literals(literals_put_plain, "plain", &out, &codes, copy, some, &state);
            check_literals(literals_best(), "best", &out, &codes, copy, some, &state);
        }
    }
    guarded_free(&out);
    guarded_free(&memory);
}
END_TEST

/* Each byte has a code of its own. */
START_TEST(test_literals_each)
{
    struct literal_codes codes;
    struct guarded out;
    uint64_t state = 6;
    guarded_new(&out, OUT_MAX);
    literal_codes_fill(&codes, 14, 14, &state);
    for (int i = 0; i < LITERALS; i++) {
        uint8_t bytes[130];
        memset(bytes, i, sizeof bytes);
        check_literals(literals_put_plain, "plain", &out, &codes, bytes, sizeof bytes, &state);
        check_literals(literals_best(), "best", &out, &codes, bytes, sizeof bytes, &state);
    }
    guarded_free(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("literals");
    TCase *tcase = suite_case(suite, "literals");
    tcase_add_loop_test(tcase, test_literals, 0, ROWS(code_bits));
    tcase_add_test(tcase, test_literals_each);
    return suite_run(suite);
}
