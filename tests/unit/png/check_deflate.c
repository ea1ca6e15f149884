/* Streams, whole and in parts, decoded by two libraries. */
#include <libdeflate.h>
#include <zlib.h>

#include "server/png/deflate/deflate.h"
#include "tests/unit/support/fixtures.h"

enum { TRIED = 300, TILE_MAX = 512 * (512 * 3 + 1) };

static struct guarded tile; /* input and its slack */
static struct deflate *encoder;
static struct libdeflate_decompressor *decompressor;

static void streams_set_up(void)
{
    guarded_new(&tile, TILE_MAX + DEFLATE_SLACK);
    ck_assert_int_eq(deflate_new(&encoder, TILE_MAX), 0);
    decompressor = libdeflate_alloc_decompressor();
    ck_assert_ptr_nonnull(decompressor);
}

static void streams_tear_down(void)
{
    libdeflate_free_decompressor(decompressor);
    deflate_free(encoder);
    guarded_free(&tile);
}

/* LENGTH bytes of the tile that end where their slack begins. */
static uint8_t *tile_bytes(size_t length)
{
    return guarded_bytes(&tile, length + DEFLATE_SLACK, false);
}

/* Both decoders consume the whole stream and return BYTES. */
static void check_inflates(const uint8_t *stream, size_t stream_length, const uint8_t *bytes,
                           size_t length, const char *what)
{
    static uint8_t out[TILE_MAX + 1];
    size_t taken = 0, got = 0;
    enum libdeflate_result result = libdeflate_zlib_decompress_ex(
        decompressor, stream, stream_length, out, length, &taken, &got);
    must(result == LIBDEFLATE_SUCCESS, "%s, %zu bytes: libdeflate says %d", what, length, result);
    must(taken == stream_length && got == length, "%s, %zu bytes: libdeflate took %zu of %zu", what,
         length, taken, stream_length);
    must(memcmp(out, bytes, length) == 0, "%s, %zu bytes: not the same with libdeflate", what,
         length);

    memset(out, 0, length);
    z_stream zlib = {.next_in = (uint8_t *)(uintptr_t)stream,
                     .avail_in = (uInt)stream_length,
                     .next_out = out,
                     .avail_out = sizeof out};
    must(inflateInit(&zlib) == Z_OK, "inflateInit");
    int end = inflate(&zlib, Z_FINISH);
    must(end == Z_STREAM_END, "%s, %zu bytes: zlib says %s", what, length, zlib.msg);
    must(zlib.total_in == stream_length && zlib.total_out == length,
         "%s, %zu bytes: zlib took %lu of %zu", what, length, zlib.total_in, stream_length);
    must(memcmp(out, bytes, length) == 0, "%s, %zu bytes: not the same with zlib", what, length);
    inflateEnd(&zlib);
}

/* Encode LENGTH bytes of the tile. Returns the stream's length. */
static size_t check_stream(size_t length, unsigned far, const char *what)
{
    size_t stream_length = 0;
    const uint8_t *bytes = tile_bytes(length);
    const uint8_t *stream = deflate_stream(encoder, bytes, length, far, &stream_length);
    check_inflates(stream, stream_length, bytes, length, what);
    must(stream_length <= length + 11 + length / 65535 * 5, "%s, %zu bytes, %u: became %zu", what,
         length, far, stream_length);
    return stream_length;
}

enum look { NOISE, EQUAL, ZEROS, SPARSE, STEPS, SMALL, ROUND, LOOKS };
static const char *const looks[LOOKS] = {"noise", "equal", "zeros", "sparse",
                                         "steps", "small", "round"};

static void paint(uint8_t *bytes, enum look look, size_t length, unsigned far, uint64_t *state)
{
    for (size_t i = 0; i < length; i++) {
        const uint64_t any = chance(state);
        const bool rare = any >> 32 & 63;
        switch (look) {
        case NOISE:
            bytes[i] = (uint8_t)any;
            break;
        case EQUAL:
            bytes[i] = 255;
            break;
        case ZEROS:
            bytes[i] = 0;
            break;
        case SPARSE:
            bytes[i] = rare ? 0 : (uint8_t)any;
            break;
        case STEPS: /* equal to the byte before, or a pixel before */
            bytes[i] = i && rare ? bytes[i - (any >> 40 & 1 && i >= far ? far : 1)] : (uint8_t)any;
            break;
        case SMALL: /* around 0, as a filter's output */
            bytes[i] = (uint8_t)((any & 3) + (any >> 2 & 3) - (any >> 4 & 7));
            break;
        default:
            bytes[i] = (uint8_t)i;
        }
    }
}

START_TEST(test_streams)
{
    const unsigned far = (unsigned)_i;
    uint64_t state = far;
    for (enum look look = 0; look < LOOKS; look++) {
        for (size_t length = 0; length <= TILE_MAX; length = length < TRIED          ? length + 1
                                                             : length < TILE_MAX / 3 ? length * 3
                                                                                     : TILE_MAX) {
            paint(tile_bytes(length), look, length, far, &state);
            size_t stream_length = check_stream(length, far, looks[look]);
            /* Runs are found, and a few values get short codes. */
            if (length >= 65536 && look != NOISE && look != ROUND)
                must(stream_length < length * (look == SMALL ? 5 : 3) / 8,
                     "%s, %zu bytes: became %zu", looks[look], length, stream_length);
            if (length == TILE_MAX)
                break;
        }
    }
}
END_TEST

/* Matches are 3 to 258 bytes long: the rest of a run must not be 1 or 2. */
START_TEST(test_stream_of_runs)
{
    const unsigned far = (unsigned)_i;
    uint64_t state = 8;
    for (size_t times = 0; times <= 4; times++) {
        for (size_t more = 0; more < 258; more++) {
            const size_t run = 258 * times + more, length = far + run + 2 * (more % 5);
            uint8_t *bytes = tile_bytes(length);
            for (size_t i = 0; i < length; i++)
                bytes[i] = i >= far && i < far + run ? bytes[i - far] : (uint8_t)chance(&state);
            check_stream(length, far, "a run");
        }
    }
    /* Many runs with a byte or two between them. */
    size_t at = 0;
    uint8_t *bytes = tile_bytes(TILE_MAX);
    while (at < TILE_MAX) {
        const size_t end = at + (size_t)chance_below(&state, 600);
        for (const uint8_t value = (uint8_t)chance(&state); at < TILE_MAX && at <= end; at++)
            bytes[at] = value;
    }
    check_stream(TILE_MAX, far, "runs");
}
END_TEST

/* Two alphabets in turn: whichever a sample sees, the other one occurs, too. */
START_TEST(test_deceiving)
{
    uint64_t state = 9;
    const size_t length = 300000;
    for (size_t stretch = 1; stretch <= length; stretch *= 2) {
        for (size_t turn = 0; turn < 8; turn++) {
            /* One of eight stretches, or all but one, holds small numbers; the others any, or
             * large.
             */
            for (int way = 0; way < 4; way++) {
                uint8_t *bytes = tile_bytes(length);
                for (size_t i = 0; i < length; i++) {
                    const bool mine = (i / stretch % 8 == turn) == (way & 1);
                    const uint64_t any = chance(&state);
                    bytes[i] = (uint8_t)(mine ? any & 3 : way & 2 ? any : 200 + any % 40);
                }
                check_stream(length, 3, "two alphabets");
            }
        }
    }
}
END_TEST

/* A byte that occurs once, anywhere, has a code. */
START_TEST(test_once)
{
    uint64_t state = 10;
    const size_t length = 70000;
    for (int i = 0; i < 300; i++) {
        uint8_t *bytes = tile_bytes(length);
        paint(bytes, i & 1 ? SMALL : ZEROS, length, 4, &state);
        size_t at = i < 8 ? (size_t)i : i < 16 ? length + 7 - (size_t)i : chance(&state) % length;
        bytes[at] = (uint8_t)(100 + i % 50);
        check_stream(length, 4, "one byte");
    }
}
END_TEST

/* Distributions of any steepness, up to codes of more than 15 bits. */
START_TEST(test_steep)
{
    uint64_t state = 11;
    for (int shift = 0; shift < 8; shift++) {
        uint8_t *bytes = tile_bytes(TILE_MAX);
        for (size_t i = 0; i < TILE_MAX; i++) {
            const uint64_t any = chance(&state);
            /* Half of them 0, a quarter 1, and so on; then ever more values for each. */
            const int zeros = __builtin_ctzll(any | UINT64_C(1) << 40);
            bytes[i] = (uint8_t)((zeros << shift) + (int)(any >> 56 & ((1u << shift) - 1)));
        }
        check_stream(TILE_MAX, 1, "steep");
    }
}
END_TEST

/* The same bytes give the same stream, whatever follows them in memory or was encoded before. */
START_TEST(test_stream_is_pure)
{
    static uint8_t kept[TILE_MAX + 1024];
    uint64_t state = 12;
    for (enum look look = 0; look < LOOKS; look++) {
        const size_t length = 50000;
        size_t first_length, length_again;
        uint8_t *bytes = tile_bytes(length);
        paint(bytes, look, length, 3, &state);
        memset(bytes + length, bytes[length - 1], DEFLATE_SLACK);
        const uint8_t *stream = deflate_stream(encoder, bytes, length, 3, &first_length);
        memcpy(kept, stream, first_length);
        paint(bytes + length, NOISE, DEFLATE_SLACK, 3, &state);

        uint8_t *copy = guarded_bytes(&tile, length + DEFLATE_SLACK, true);
        memmove(copy, bytes, length + DEFLATE_SLACK);
        paint(tile_bytes(20000), (look + 1) % LOOKS, 20000, 3, &state);
        deflate_stream(encoder, tile_bytes(20000), 20000, 1, &length_again);
        stream = deflate_stream(encoder, copy, length, 3, &length_again);
        must(first_length == length_again && memcmp(kept, stream, first_length) == 0,
             "%s: another stream", looks[look]);

        struct deflate *small;
        ck_assert_int_eq(deflate_new(&small, length), 0);
        stream = deflate_stream(small, copy, length, 3, &length_again);
        must(first_length == length_again && memcmp(kept, stream, first_length) == 0,
             "%s: another stream with less memory", looks[look]);
        deflate_free(small);
    }
}
END_TEST

/* Two encoders do not disturb each other's streams. */
START_TEST(test_two_at_once)
{
    struct deflate *other;
    const size_t length = 100000;
    size_t length_one, length_two;
    uint64_t state = 13;
    uint8_t *one = guarded_bytes(&tile, length, true), *two = tile_bytes(length);
    ck_assert_int_eq(deflate_new(&other, length), 0);
    paint(one, SMALL, length, 2, &state);
    paint(two, STEPS, length, 2, &state);
    const uint8_t *stream_one = deflate_stream(encoder, one, length, 2, &length_one);
    const uint8_t *stream_two = deflate_stream(other, two, length, 2, &length_two);
    check_inflates(stream_one, length_one, one, length, "the first");
    check_inflates(stream_two, length_two, two, length, "the second");
    deflate_free(other);
    check_inflates(stream_one, length_one, one, length, "the first, when the second is gone");
    deflate_free(NULL);
}
END_TEST

/* Encode LENGTH bytes of the tile in parts of PART bytes, and a last one of the rest. */
static struct blob *stream_of_parts(size_t length, size_t part, unsigned far)
{
    const uint8_t *bytes = tile_bytes(length);
    struct blob *stream = blob_new(DEFLATE_HEAD + DEFLATE_TAIL + length + 5 * (length / part + 1) +
                                   5 * (length / 65535));
    struct adler sum = {0};
    size_t at = DEFLATE_HEAD, more = 0;

    memcpy(stream->bytes, deflate_head, DEFLATE_HEAD);
    for (size_t done = 0; done < length; done += more) {
        size_t part_length;
        more = length - done < part ? length - done : part;
        const uint8_t *encoded = deflate_part(encoder, bytes + done, more, far, &part_length);
        must(part_length <= more + 5 + more / 65535 * 5, "%zu bytes became %zu", more, part_length);
        memcpy(stream->bytes + at, encoded, part_length);
        at += part_length;
        const struct adler next = adler_of(bytes + done, more);
        adler_join(&sum, &next);
    }
    deflate_tail(stream->bytes + at, &sum);
    stream->length = at + DEFLATE_TAIL;
    must(sum.length == length, "%zu bytes were summed as %zu", length, (size_t)sum.length);
    return stream;
}

START_TEST(test_parts)
{
    static const size_t parts[] = {1, 2, 7, 255, 8196, 65535, 65536, TILE_MAX};
    const unsigned far = (unsigned)_i;
    uint64_t state = 14 + far;
    for (enum look look = 0; look < LOOKS; look++) {
        for (int i = 0; i < ROWS(parts); i++) {
            const size_t most = parts[i] < 255 ? 1000 : parts[i] < 8196 ? 50000 : TILE_MAX;
            for (size_t length = i % 3; length <= most; length = 2 * length + 61) {
                paint(tile_bytes(length), look, length, far, &state);
                struct blob *stream = stream_of_parts(length, parts[i], far);
                check_inflates(stream->bytes, stream->length, tile_bytes(length), length,
                               looks[look]);
                blob_release(stream);
            }
        }
    }
}
END_TEST

/* A part is the same, and can be decoded, whatever precedes it. */
START_TEST(test_part_by_itself)
{
    static uint8_t kept[TILE_MAX + 1024], out[TILE_MAX];
    uint64_t state = 15;
    for (enum look look = 0; look < LOOKS; look++) {
        const size_t length = 60000;
        size_t first_length, length_again;
        uint8_t *bytes = tile_bytes(2 * length);
        paint(bytes, look, 2 * length, 2, &state);
        const uint8_t *part = deflate_part(encoder, bytes + length, length, 2, &first_length);
        memcpy(kept, part, first_length);
        deflate_part(encoder, bytes, length, 2, &length_again);
        paint(bytes, (look + 1) % LOOKS, length, 2, &state);
        part = deflate_part(encoder, bytes + length, length, 2, &length_again);
        must(first_length == length_again && memcmp(kept, part, first_length) == 0,
             "%s: another part", looks[look]);

        /* Raw: without head, tail and earlier parts. */
        z_stream zlib = {.next_in = kept,
                         .avail_in = (uInt)first_length,
                         .next_out = out,
                         .avail_out = sizeof out};
        must(inflateInit2(&zlib, -15) == Z_OK, "inflateInit2");
        const int end = inflate(&zlib, Z_SYNC_FLUSH);
        must(end == Z_OK && zlib.total_in == first_length && zlib.total_out == length,
             "%s: zlib says %d, and took %lu of %zu", looks[look], end, zlib.total_in,
             first_length);
        must(memcmp(out, bytes + length, length) == 0, "%s: not the same", looks[look]);
        /* Between blocks, and between bytes. */
        must(zlib.data_type == 128, "%s: zlib waits for more, %d", looks[look], zlib.data_type);
        inflateEnd(&zlib);
    }
}
END_TEST

static void check_adler(const uint8_t *bytes, size_t first, size_t second)
{
    struct adler adler = adler_of(bytes, first);
    const struct adler next = adler_of(bytes + first, second);
    const uint32_t want = libdeflate_adler32(1, bytes, first + second);
    adler_join(&adler, &next);
    must(adler_value(&adler) == want, "%zu and %zu bytes: %x, not %x", first, second,
         adler_value(&adler), want);
    must(adler.length == first + second, "%zu and %zu bytes are %zu", first, second,
         (size_t)adler.length);
}

/* Sums of two parts, so long that both halves wrap around many times. */
START_TEST(test_adler)
{
    static const size_t lengths[] = {0, 1, 2, 15, 257, 5552, 65520, 65521, 65522, 131042, 300000};
    uint64_t state = 16;
    for (int value = 0; value < 3; value++) {
        uint8_t *bytes = tile_bytes(TILE_MAX);
        for (size_t i = 0; i < TILE_MAX; i++)
            bytes[i] = (uint8_t)(value == 0 ? 0 : value == 1 ? 255 : chance(&state));
        for (int i = 0; i < ROWS(lengths); i++)
            for (int j = 0; j < ROWS(lengths); j++)
                check_adler(bytes, lengths[i], lengths[j]);
        for (int i = 0; i < 1000; i++)
            check_adler(bytes, (size_t)chance_below(&state, TILE_MAX / 2),
                        (size_t)chance_below(&state, TILE_MAX / 2));
    }
    const struct adler none = {0};
    ck_assert_uint_eq(adler_value(&none), 1);
}
END_TEST

/* More bytes than 32 bits can count: 2^33 zeros leave 1 as it is, and add 2^33 to the high half. */
START_TEST(test_adler_of_many)
{
    const uint8_t *zeros = memset(tile_bytes(65536), 0, 65536);
    struct adler adler = adler_of(zeros, 65536);
    for (int i = 16; i < 33; i++) {
        const struct adler same = adler;
        adler_join(&adler, &same);
    }
    ck_assert_uint_eq(adler.length, UINT64_C(1) << 33);
    ck_assert_uint_eq(adler_value(&adler), (UINT64_C(1) << 33) % 65521 << 16 | 1);
}
END_TEST

/* One run of the most bytes allowed. */
START_TEST(test_longest)
{
    const size_t length = DEFLATE_LENGTH_MAX;
    struct deflate *longest;
    size_t stream_length, got = 0;
    uint8_t *bytes = calloc(2, length + DEFLATE_SLACK);
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(deflate_new(&longest, length), 0);
    memset(bytes, 7, length);
    const uint8_t *stream = deflate_stream(longest, bytes, length, 1, &stream_length);
    uint8_t *out = bytes + length + DEFLATE_SLACK;
    ck_assert_int_eq(
        libdeflate_zlib_decompress(decompressor, stream, stream_length, out, length, &got),
        LIBDEFLATE_SUCCESS);
    ck_assert_uint_eq(got, length);
    ck_assert(memcmp(out, bytes, length) == 0);
    deflate_free(longest);
    free(bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deflate");
    TCase *tcase = suite_case(suite, "streams");
    tcase_add_checked_fixture(tcase, streams_set_up, streams_tear_down);
    tcase_add_loop_test(tcase, test_streams, 1, 5);
    tcase_add_loop_test(tcase, test_stream_of_runs, 1, 5);
    tcase_add_test(tcase, test_deceiving);
    tcase_add_test(tcase, test_once);
    tcase_add_test(tcase, test_steep);
    tcase_add_test(tcase, test_stream_is_pure);
    tcase_add_test(tcase, test_two_at_once);
    tcase_add_test(tcase, test_longest);
    tcase = suite_case(suite, "parts");
    tcase_add_checked_fixture(tcase, streams_set_up, streams_tear_down);
    tcase_add_loop_test(tcase, test_parts, 1, 5);
    tcase_add_test(tcase, test_part_by_itself);
    tcase_add_test(tcase, test_adler);
    tcase_add_test(tcase, test_adler_of_many);
    return suite_run(suite);
}
