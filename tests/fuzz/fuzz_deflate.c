/*
 * The deflate encoder: zlib inflates its stream to the same bytes, with nothing left over, and the
 * stream is within the bound in deflate.h. Half of the inputs are the bytes themselves; the others
 * are instructions to generate more: literals, and runs that repeat the previous byte, the previous
 * pixel, or a byte some distance before.
 */
#include "server/png/deflate/deflate.h"

#define ZLIB_CONST /* its input is const */
#include <zlib.h>

#include "tests/fuzz/fuzz.h"

enum { BYTES_MAX = 70000 }; /* more than a stored block's 65535 */

struct page {
    uint8_t *bytes; /* followed by DEFLATE_SLACK bytes */
    size_t length;
};

static void page_put(struct page *page, uint8_t byte)
{
    if (page->length < BYTES_MAX)
        page->bytes[page->length++] = byte;
}

/* Append COUNT bytes that each equal the one DISTANCE before. */
static void page_repeat(struct page *page, size_t distance, size_t count)
{
    for (size_t i = 0; i < count; i++)
        page_put(page, page->length >= distance ? page->bytes[page->length - distance] : 0);
}

static void generate(struct page *page, struct input *input, unsigned far)
{
    while (input->left > 0 && page->length < BYTES_MAX) {
        const uint8_t order = input_byte(input);
        const size_t count = 1u + (order & 31) * (order & 32 ? 67 : 1); /* a match has up to 258 */
        switch (order >> 6) {
        case 0:
            for (size_t i = 0; i < count && input->left > 0; i++)
                page_put(page, input_byte(input));
            break;
        case 1:
            page_repeat(page, 1, count);
            break;
        case 2:
            page_repeat(page, far, count);
            break;
        default:
            page_repeat(page, 1u + input_byte(input), count);
        }
    }
}

static void check_inflates(const uint8_t *stream, size_t stream_length, const struct page *page)
{
    uint8_t *out = malloc(page->length + 1);
    z_stream zlib = {.next_in = stream,
                     .avail_in = (uInt)stream_length,
                     .next_out = out,
                     .avail_out = (uInt)page->length + 1};
    must(inflateInit(&zlib) == Z_OK, "out of memory");
    const int end = inflate(&zlib, Z_FINISH);
    must(end == Z_STREAM_END, "zlib says %d, %s", end, zlib.msg ? zlib.msg : "");
    must(zlib.total_in == stream_length && zlib.total_out == page->length, "%lu of %zu, %lu of %zu",
         zlib.total_in, stream_length, zlib.total_out, page->length);
    must(page->length == 0 || memcmp(out, page->bytes, page->length) == 0, "bytes differ");
    inflateEnd(&zlib);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct deflate *deflate; /* reused, as by a render thread */
    struct input input = {bytes, size};
    const uint8_t kind = input_byte(&input);
    const unsigned far = 1u + (kind & 3);
    struct page page = {.bytes = malloc(BYTES_MAX + DEFLATE_SLACK)};

    if (!deflate)
        must(deflate_new(&deflate, BYTES_MAX) == 0, "out of memory");
    if (kind & 4)
        generate(&page, &input, far);
    else
        while (input.left > 0)
            page_put(&page, input_byte(&input));
    /* A heap block that ends with the slack. */
    uint8_t *exact = malloc(page.length + DEFLATE_SLACK);
    memcpy(exact, page.bytes, page.length);
    memset(exact + page.length, kind, DEFLATE_SLACK);
    size_t length = 0;
    const uint8_t *stream = deflate_stream(deflate, exact, page.length, far, &length);
    must(length <= page.length + 11 + page.length / 65535 * 5, "%zu bytes became %zu", page.length,
         length);
    check_inflates(stream, length, &page);
    free(exact);
    free(page.bytes);
    return 0;
}
