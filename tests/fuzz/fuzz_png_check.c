/*
 * Files that may be PNGs; half of the mutations repair every CRC. A second, simpler check accepts
 * the same files. If libpng reads the header of an accepted file, it reads the same dimensions.
 * Neither a part of such a file nor one with a flipped bit is accepted.
 */
#include "server/png/image_verify.h"

#include <png.h>
#include <zlib.h>

#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed);

enum { SIGNATURE = 8, FRAME = 12, SIDE = 16 };

static uint32_t read_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void write_word(uint8_t *bytes, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* Repair the CRC of each chunk. */
static void repair(uint8_t *bytes, size_t size)
{
    for (size_t at = SIGNATURE; at < size && size - at >= FRAME;) {
        const size_t length = read_word(bytes + at);
        if (length > size - at - FRAME)
            return;
        write_word(bytes + at + 8 + length, (uint32_t)crc32(0, bytes + at + 4, (uInt)length + 4));
        at += length + FRAME;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
    size = LLVMFuzzerMutate(bytes, size, max_size);
    if (seed & 1)
        repair(bytes, size);
    return size;
}

/* The second check: zlib's CRC, and the order of chunks. */
static bool is_whole(const uint8_t *bytes, size_t size, uint32_t width, uint32_t height)
{
    static const uint8_t header[] = {0, 0, 0, 13, 'I', 'H', 'D', 'R'};
    bool pixels = false, ended = false;
    size_t at = SIGNATURE;
    if (size < SIGNATURE || memcmp(bytes, "\x89PNG\r\n\x1a\n", SIGNATURE) != 0)
        return false;
    while (at < size) {
        if (ended || size - at < FRAME || read_word(bytes + at) > size - at - FRAME)
            return false;
        const uint8_t *chunk = bytes + at;
        const size_t length = read_word(chunk);
        if (crc32(0, chunk + 4, (uInt)length + 4) != read_word(chunk + 8 + length))
            return false;
        if (at == SIGNATURE ? memcmp(chunk, header, sizeof header) != 0
                            : memcmp(chunk + 4, "IHDR", 4) == 0)
            return false;
        pixels |= memcmp(chunk + 4, "IDAT", 4) == 0;
        ended = memcmp(chunk + 4, "IEND", 4) == 0;
        at += length + FRAME;
    }
    return pixels && ended && read_word(bytes + 16) == width && read_word(bytes + 20) == height;
}

static void read_bytes(png_structp png, png_bytep out, size_t length)
{
    struct input *input = png_get_io_ptr(png);
    if (length > input->left)
        png_error(png, "truncated");
    memcpy(out, input->at, length);
    input->at += length;
    input->left -= length;
}

__attribute__((noreturn)) static void on_error(png_structp png, png_const_charp message)
{
    (void)message;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void check_libpng(struct input input, uint32_t width, uint32_t height)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    png_infop header = png_create_info_struct(png);
    if (!setjmp(png_jmpbuf(png))) {
        png_set_read_fn(png, &input, read_bytes);
        png_read_info(png, header);
        must(png_get_image_width(png, header) == width, "%u", png_get_image_width(png, header));
        must(png_get_image_height(png, header) == height, "%u", png_get_image_height(png, header));
    }
    png_destroy_read_struct(&png, &header, NULL);
}

/* A CRC of the input selects the byte and the bit to change. */
static void check_damaged(const uint8_t *bytes, size_t size, uint32_t width, uint32_t height)
{
    const uint32_t choice = (uint32_t)crc32(0, bytes, (uInt)size);
    const size_t kept = choice % size;
    uint8_t *copy = input_copy(bytes, kept);
    must(!image_verify(copy, kept, width, height), "only the first %zu bytes", kept);
    free(copy);
    /* In theory a changed length can lead to other valid chunks. */
    const size_t damaged = choice % 2 ? SIGNATURE + 4 + choice / 2 % 17 : size - 8 + choice / 2 % 8;
    copy = input_copy(bytes, size);
    copy[damaged] ^= (uint8_t)(1u << (choice >> 29));
    must(!image_verify(copy, size, width, height), "with a bit of byte %zu changed", damaged);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* The dimensions in the header, if there is one: only these can be accepted. */
    const bool has_header = size >= 24;
    const uint32_t width = has_header ? read_word(bytes + 16) : SIDE;
    const uint32_t height = has_header ? read_word(bytes + 20) : SIDE;
    const bool accepted = image_verify(bytes, size, width, height);

    must(!image_verify(bytes, size, width + 1, height), "accepted with another width");
    must(!image_verify(bytes, size, width, height ^ 256), "accepted with another height");
    must(accepted == is_whole(bytes, size, width, height), "the second check returns %d",
         !accepted);
    if (accepted) {
        check_libpng((struct input){bytes, size}, width, height);
        check_damaged(bytes, size, width, height);
    }
    return 0;
}
