#include "deflate.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bits.h"
#include "huffman.h"
#include "literals.h"
#include "repeats.h"

enum {
    END_OF_BLOCK = 256,
    MATCH_CODES = 29, /* for match lengths, MATCH_MIN to MATCH_MAX */
    SYMBOLS = LITERALS + 1 + MATCH_CODES,
    MATCH_MIN = 3,
    MATCH_MAX = 258,
};

struct deflate {
    size_t capacity; /* bytes of input */
    literals_put *put_literals;
    struct piece *pieces;
    uint64_t *masks;
    uint8_t *stream;
};

/* The most bytes besides the input's codes, with some to spare: zlib's header and checksum, the
 * code lengths, up to 14 bits each, and the bytes that bits_put overwrites. */
enum { FRAME_MAX = 1024 };

_Static_assert(DEFLATE_LENGTH_MAX <= (int)REPEATS_LENGTH_MAX, "a piece can hold all of the input");

int deflate_new(struct deflate **out, size_t length)
{
    assert(length <= DEFLATE_LENGTH_MAX);
    struct deflate *deflate = malloc(sizeof *deflate);
    if (!deflate)
        return -ENOMEM;
    deflate->capacity = length;
    deflate->put_literals = literals_best();
    deflate->pieces = malloc(PIECES_MAX(length) * sizeof *deflate->pieces);
    deflate->masks = malloc(MASKS_MAX(length) * sizeof *deflate->masks);
    deflate->stream = malloc(FRAME_MAX + length * LITERAL_BITS_MAX / 8);
    if (!deflate->pieces || !deflate->masks || !deflate->stream) {
        deflate_free(deflate);
        return -ENOMEM;
    }
    *out = deflate;
    return 0;
}

void deflate_free(struct deflate *deflate)
{
    if (!deflate)
        return;
    free(deflate->pieces);
    free(deflate->masks);
    free(deflate->stream);
    free(deflate);
}

/* Each code's shortest match, and how many extra bits follow (RFC 1951, 3.2.5). */
static const uint16_t match_base[MATCH_CODES] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                                 15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                                 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t match_extra[MATCH_CODES] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};

/* LENGTH's code, counted from 0, if MATCH is the code of LENGTH - 1; 0 for MATCH_MIN. */
static inline unsigned match_code(unsigned match, unsigned length)
{
    return match + (match + 1 < MATCH_CODES && match_base[match + 1] == length);
}

/* The next match's length for REPEATS bytes. Never leaves fewer than MATCH_MIN. */
static inline unsigned next_match(uint32_t repeats)
{
    if (repeats <= MATCH_MAX)
        return repeats;
    return repeats - MATCH_MAX < MATCH_MIN ? MATCH_MAX - MATCH_MIN : MATCH_MAX;
}

/* Long literal runs are sampled: every fourth block counts four times. That makes the output a few
 * thousandths longer than exact counts do. */
enum { BLOCK = 64, SAMPLED = 4, COUNTERS = 4 };

/* Neighboring bytes use separate counters, so that increments do not wait for each other. */
struct counts {
    uint32_t literals[COUNTERS][LITERALS];
    uint32_t matches[MATCH_MAX + 1];
    bool sampled; /* not all bytes were counted */
};

static inline void count_block(struct counts *counts, const uint8_t *bytes, size_t length,
                               uint32_t weight)
{
    size_t i = 0;
    for (; i + COUNTERS <= length; i += COUNTERS)
        for (int k = 0; k < COUNTERS; k++)
            counts->literals[k][bytes[i + (size_t)k]] += weight;
    for (; i < length; i++)
        counts->literals[0][bytes[i]] += weight;
}

static void count_piece(struct counts *counts, const uint8_t *bytes, const struct piece *piece)
{
    size_t i = 0;
    for (; i + SAMPLED * BLOCK <= piece->literals; i += SAMPLED * BLOCK) {
        count_block(counts, bytes + i, BLOCK, SAMPLED);
        counts->sampled = true;
    }
    count_block(counts, bytes + i, piece->literals - i, 1);
    for (uint32_t repeats = piece->repeats; repeats;) {
        const unsigned length = next_match(repeats);
        counts->matches[length]++;
        repeats -= length;
    }
}

static void count_symbols(uint32_t count[SYMBOLS], const struct piece *pieces, size_t number,
                          const uint8_t *bytes)
{
    struct counts counts = {.sampled = false};

    for (size_t i = 0; i < number; i++) {
        count_piece(&counts, bytes, &pieces[i]);
        bytes += pieces[i].literals + pieces[i].repeats;
    }
    memset(count, 0, SYMBOLS * sizeof *count);
    for (int i = 0; i < LITERALS; i++) {
        count[i] = counts.sampled; /* any byte may occur where nothing was counted */
        for (int k = 0; k < COUNTERS; k++)
            count[i] += counts.literals[k][i];
    }
    count[END_OF_BLOCK] = 1;
    for (unsigned match = 0, length = MATCH_MIN; length <= MATCH_MAX; length++) {
        match = match_code(match, length);
        count[END_OF_BLOCK + 1 + match] += counts.matches[length];
    }
}

struct codes {
    struct literal_codes literals;
    uint16_t end;
    uint8_t end_length;
    /* By match length: code and extra bits. */
    uint32_t match[MATCH_MAX + 1];
    uint8_t match_length[MATCH_MAX + 1];
    uint8_t length[SYMBOLS];
};

static void make_codes(struct codes *codes, const uint32_t count[SYMBOLS])
{
    uint16_t code[SYMBOLS];

    huffman_lengths(count, SYMBOLS, LITERAL_BITS_MAX, codes->length);
    huffman_codes(codes->length, SYMBOLS, code);
    memcpy(codes->literals.code, code, sizeof codes->literals.code);
    memcpy(codes->literals.length, codes->length, sizeof codes->literals.length);
    codes->end = code[END_OF_BLOCK];
    codes->end_length = codes->length[END_OF_BLOCK];
    for (unsigned match = 0, length = MATCH_MIN; length <= MATCH_MAX; length++) {
        match = match_code(match, length);
        const unsigned symbol = END_OF_BLOCK + 1 + match, bits = codes->length[symbol];
        codes->match[length] = code[symbol] | (length - match_base[match]) << bits;
        codes->match_length[length] = (uint8_t)(bits + match_extra[match]);
    }
}

static void put_repeats(struct bits *bits, const struct codes *codes, const struct piece *piece)
{
    for (uint32_t repeats = piece->repeats; repeats;) {
        const unsigned length = next_match(repeats), count = codes->match_length[length];
        /* Distance 1 has the code 0, the other distance 1, a bit each. */
        const uint64_t distance = piece->distance > 1;
        bits_put(bits, codes->match[length] | distance << count, count + 1);
        repeats -= length;
    }
}

/* Code lengths are run-length and Huffman coded in turn (RFC 1951, 3.2.7). */
enum { REPEAT = 16, ZEROS_SHORT = 17, ZEROS_LONG = 18, META_SYMBOLS = 19, META_BITS = 7 };

struct meta {
    uint8_t symbol, extra, extra_bits;
};

static int runs_of_lengths(struct meta *out, const uint8_t *length, int count)
{
    int n = 0;
    for (int i = 0; i < count;) {
        int run = 1;
        while (i + run < count && length[i + run] == length[i])
            run++;
        i += run;
        if (length[i - 1] == 0) {
            for (int part; run >= 3; run -= part) {
                part = run < 138 ? run : 138;
                out[n++] = part < 11 ? (struct meta){ZEROS_SHORT, (uint8_t)(part - 3), 3}
                                     : (struct meta){ZEROS_LONG, (uint8_t)(part - 11), 7};
            }
        } else {
            out[n++] = (struct meta){length[i - 1], 0, 0};
            run--;
            for (int part; run >= 3; run -= part) {
                part = run < 6 ? run : 6;
                out[n++] = (struct meta){REPEAT, (uint8_t)(part - 3), 2};
            }
        }
        for (; run > 0; run--)
            out[n++] = (struct meta){length[i - 1], 0, 0};
    }
    return n;
}

/* Distances 1 and PIXEL_BYTES have codes; up to 4, a code is one distance, without extra bits. */
enum { PIXEL_BYTES_MAX = 4 };

static void put_head(struct bits *bits, const struct codes *codes, unsigned pixel_bytes, bool last)
{
    static const uint8_t order[META_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    struct meta metas[SYMBOLS + PIXEL_BYTES_MAX];
    uint8_t lengths[SYMBOLS + PIXEL_BYTES_MAX] = {0}, meta_length[META_SYMBOLS];
    uint16_t meta_code[META_SYMBOLS];
    uint32_t count[META_SYMBOLS] = {0};
    int symbols = SYMBOLS, sent = META_SYMBOLS;

    while (codes->length[symbols - 1] == 0)
        symbols--;
    memcpy(lengths, codes->length, (size_t)symbols);
    lengths[symbols] = lengths[symbols + (int)pixel_bytes - 1] = 1;
    const int number = runs_of_lengths(metas, lengths, symbols + (int)pixel_bytes);
    for (int i = 0; i < number; i++)
        count[metas[i].symbol]++;
    huffman_lengths(count, META_SYMBOLS, META_BITS, meta_length);
    huffman_codes(meta_length, META_SYMBOLS, meta_code);
    while (meta_length[order[sent - 1]] == 0)
        sent--;

    bits_put(bits, last, 1);
    bits_put(bits, 2, 2); /* dynamic codes */
    bits_put(bits, (unsigned)symbols - 257, 5);
    bits_put(bits, pixel_bytes - 1, 5);
    bits_put(bits, (unsigned)sent - 4, 4);
    for (int i = 0; i < sent; i++)
        bits_put(bits, meta_length[order[i]], 3);
    for (int i = 0; i < number; i++) {
        bits_put(bits, meta_code[metas[i].symbol], meta_length[metas[i].symbol]);
        bits_put(bits, metas[i].extra, metas[i].extra_bits);
    }
}

enum { STORED_MAX = 65535, STORED_HEAD = 5 };

static void put_whole_byte(struct bits *bits)
{
    bits_put(bits, 0, -bits->count & 7);
}

/* Write LENGTH bytes uncompressed (RFC 1951, 3.2.4), from the next whole byte on. */
static void put_stored(struct bits *bits, const uint8_t *bytes, size_t length, bool last)
{
    size_t part;
    do {
        part = length < STORED_MAX ? length : STORED_MAX;
        length -= part;
        bits_put(bits, last && length == 0, 3); /* stored */
        put_whole_byte(bits);
        bits_put(bits, part | (part ^ STORED_MAX) << 16, 32);
        memcpy(bits->out, bytes, part);
        bits->out += part;
        bytes += part;
    } while (length);
}

/* Write LENGTH bytes as blocks; LAST: they end the stream. No bits are pending before or after. */
static void put_blocks(struct deflate *deflate, struct bits *bits, const uint8_t *bytes,
                       size_t length, unsigned pixel_bytes, bool last)
{
    const struct bits start = *bits;
    struct codes codes;
    uint32_t count[SYMBOLS];

    assert(length <= deflate->capacity && pixel_bytes >= 1 && pixel_bytes <= PIXEL_BYTES_MAX);
    const size_t pieces = repeats_find(deflate->pieces, deflate->masks, bytes, length, pixel_bytes);
    count_symbols(count, deflate->pieces, pieces, bytes);
    make_codes(&codes, count);

    put_head(bits, &codes, pixel_bytes, last);
    const uint8_t *at = bytes;
    for (size_t i = 0; i < pieces; i++) {
        const struct piece *piece = &deflate->pieces[i];
        deflate->put_literals(bits, &codes.literals, at, piece->literals);
        put_repeats(bits, &codes, piece);
        at += piece->literals + piece->repeats;
    }
    bits_put(bits, codes.end, codes.end_length);
    if (last)
        put_whole_byte(bits);
    else
        put_stored(bits, bytes, 0, false); /* only a stored block ends at a whole byte */
    /* Noise, or the sample does not represent the rest. */
    if (bits->out > start.out + length + STORED_HEAD * (length / STORED_MAX + 1)) {
        *bits = start;
        put_stored(bits, bytes, length, last);
    }
}

/* deflate, 32 KiB window, fastest */
const uint8_t deflate_head[DEFLATE_HEAD] = {0x78, 0x01};

static uint8_t *put_sum(uint8_t *out, const struct adler *adler)
{
    const uint32_t value = htobe32(adler_value(adler));
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

const uint8_t *deflate_stream(struct deflate *deflate, const uint8_t *bytes, size_t length,
                              unsigned pixel_bytes, size_t *stream_length)
{
    struct bits bits = {.out = deflate->stream + DEFLATE_HEAD};
    const struct adler adler = adler_of(bytes, length);

    memcpy(deflate->stream, deflate_head, DEFLATE_HEAD);
    put_blocks(deflate, &bits, bytes, length, pixel_bytes, true);
    *stream_length = (size_t)(put_sum(bits.out, &adler) - deflate->stream);
    return deflate->stream;
}

const uint8_t *deflate_part(struct deflate *deflate, const uint8_t *bytes, size_t length,
                            unsigned pixel_bytes, size_t *part_length)
{
    struct bits bits = {.out = deflate->stream};

    put_blocks(deflate, &bits, bytes, length, pixel_bytes, false);
    *part_length = (size_t)(bits.out - deflate->stream);
    return deflate->stream;
}

void deflate_tail(uint8_t tail[DEFLATE_TAIL], const struct adler *adler)
{
    /* An empty stored block, marked as last, because no part is. */
    static const uint8_t last[STORED_HEAD] = {1, 0, 0, 255, 255};
    memcpy(tail, last, sizeof last);
    put_sum(tail + sizeof last, adler);
}
