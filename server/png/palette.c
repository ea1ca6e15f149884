#include "palette.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/multiversion.h"

/*
 * Colors that no eye tells apart are a cell: two steps of luma, four of each chroma (YCoCg-R:
 * Malvar and Sullivan, "YCoCg-R: A Color Space with RGB Reversibility and Low Dynamic Range",
 * 2003). A block holds four by four by four cells, so that a picture's cells, which are near each
 * other, share few lines of a cache.
 */
enum {
    BLOCK_BITS = 15, /* five of luma and of each chroma */
    BLOCK_CELLS = 64,
    BLOCKS = 1 << BLOCK_BITS,
    BLOCKS_MAX = 1024, /* of one picture: some three times what varied terrain has */
    CELLS_MAX = BLOCKS_MAX * BLOCK_CELLS,
    FREE = BLOCKS_MAX,
};

/* Numbers of pixels, by their power of two and the half of it. */
enum { SIZES = 2 * 19 };
_Static_assert(PALETTE_PIXELS_MAX < 1 << (SIZES / 2), "each number of pixels has a size");

struct palette_maker {
    uint16_t block[BLOCKS];      /* a number of a block, or FREE */
    uint32_t count[CELLS_MAX];   /* of pixels; 0 between calls */
    uint32_t color[CELLS_MAX];   /* the first one, 0xbbggrr */
    uint16_t cell[CELLS_MAX];    /* those with pixels, in order of appearance */
    uint16_t ordered[CELLS_MAX]; /* the same, those of many pixels first */
    uint8_t size[CELLS_MAX];     /* of each of ordered */
    uint8_t entry[CELLS_MAX];    /* of the palette */
    uint32_t key[PALETTE_PIXELS_MAX];
    uint16_t at[PALETTE_PIXELS_MAX]; /* each pixel's cell */
    uint16_t used[BLOCKS_MAX];       /* blocks in use */
    int blocks, cells;
};

struct palette_maker *palette_maker_new(void)
{
    struct palette_maker *maker = calloc(1, sizeof *maker);
    for (int i = 0; maker && i < BLOCKS; i++)
        maker->block[i] = FREE;
    return maker;
}

void palette_maker_free(struct palette_maker *maker)
{
    free(maker);
}

INLINE uint32_t key_of(int red, int green, int blue)
{
    const int orange = red - blue, middle = blue + (orange >> 1);
    const int leaf = green - middle, luma = middle + (leaf >> 1);
    const unsigned y = (unsigned)luma >> 1, co = (unsigned)(orange + 256) >> 2;
    const unsigned cg = (unsigned)(leaf + 256) >> 2;
    return (y >> 2) << 16 | (co >> 2) << 11 | (cg >> 2) << 6 | (y & 3) << 4 | (co & 3) << 2 |
           (cg & 3);
}

MULTIVERSION
static void find_keys(uint32_t *restrict out, const uint8_t *restrict pixels, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = key_of(pixels[3 * i], pixels[3 * i + 1], pixels[3 * i + 2]);
}

static inline uint32_t color_at(const uint8_t *pixel)
{
    return (uint32_t)pixel[0] | (uint32_t)pixel[1] << 8 | (uint32_t)pixel[2] << 16;
}

/* Count PIXEL, which has KEY, in its cell *OUT. False if there are too many cells. */
static inline bool count_pixel(struct palette_maker *maker, uint32_t key, const uint8_t *pixel,
                               unsigned *out)
{
    unsigned block = maker->block[key / BLOCK_CELLS];
    if (block == FREE) {
        if (maker->blocks == BLOCKS_MAX)
            return false;
        block = (unsigned)maker->blocks++;
        maker->block[key / BLOCK_CELLS] = (uint16_t)block;
        maker->used[block] = (uint16_t)(key / BLOCK_CELLS);
    }
    const unsigned cell = block * BLOCK_CELLS + key % BLOCK_CELLS;
    if (!(maker->count[cell]++)) {
        maker->cell[maker->cells++] = (uint16_t)cell;
        maker->color[cell] = color_at(pixel);
    }
    *out = cell;
    return true;
}

/* Level areas are counted by runs of this many pixels. */
enum { RUN = 8 };

/* How many of the keys from FIRST on, at most COUNT, are KEY: a multiple of RUN. */
static inline size_t same_keys(const uint32_t *first, size_t count, uint32_t key)
{
    size_t n = 0;
    for (; n + RUN <= count; n += RUN) {
        uint32_t other = 0;
        for (int i = 0; i < RUN; i++)
            other |= first[n + (size_t)i] ^ key;
        if (other)
            break;
    }
    return n;
}

/* Count the pixels of each cell. False if there are too many cells. */
static bool count_cells(struct palette_maker *maker, const uint8_t *pixels, size_t count)
{
    maker->blocks = maker->cells = 0;
    find_keys(maker->key, pixels, count);
    for (size_t i = 0; i < count;) {
        unsigned cell = 0;
        for (const size_t end = count - i < RUN ? count : i + RUN; i < end; i++) {
            if (!count_pixel(maker, maker->key[i], pixels + 3 * i, &cell))
                return false;
            maker->at[i] = (uint16_t)cell;
        }
        const size_t same = same_keys(maker->key + i, count - i, maker->key[i - 1]);
        for (size_t j = 0; j < same; j++)
            maker->at[i + j] = (uint16_t)cell;
        maker->count[cell] += (uint32_t)same;
        i += same;
    }
    return true;
}

static void forget_cells(struct palette_maker *maker)
{
    for (int i = 0; i < maker->cells; i++)
        maker->count[maker->cell[i]] = 0;
    for (int i = 0; i < maker->blocks; i++)
        maker->block[maker->used[i]] = FREE;
}

/* The size of a number of pixels: 0 of one. */
static int size_of(uint32_t count)
{
    const int power = 31 - __builtin_clz(count);
    return 2 * power + (power && count >> (power - 1) & 1);
}

/* Cells of one size stay in order of appearance. */
static void order_cells(struct palette_maker *maker)
{
    int first[SIZES + 1] = {0};

    for (int i = 0; i < maker->cells; i++)
        first[SIZES - 1 - size_of(maker->count[maker->cell[i]])]++;
    for (int i = 0, sum = 0; i < SIZES; i++) {
        const int n = first[i];
        first[i] = sum;
        sum += n;
    }
    for (int i = 0; i < maker->cells; i++) {
        const int size = size_of(maker->count[maker->cell[i]]);
        const int place = first[SIZES - 1 - size]++;
        maker->ordered[place] = maker->cell[i];
        maker->size[place] = (uint8_t)size;
    }
}

/* Colors of the palette, by channel. Those not yet chosen repeat the first. */
struct chosen {
    uint8_t of[3][PALETTE_COLORS];
    int count;
};

static void choose(struct chosen *chosen, uint32_t color)
{
    for (int c = 0; c < 3; c++) {
        if (!chosen->count)
            memset(chosen->of[c], color >> 8 * c & 255, PALETTE_COLORS);
        chosen->of[c][chosen->count] = color >> 8 * c & 255;
    }
    chosen->count++;
}

INLINE uint8_t apart(uint8_t a, uint8_t b)
{
    const uint8_t most = a > b ? a : b, least = a > b ? b : a;
    return (uint8_t)(most - least);
}

INLINE uint8_t greater(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

enum { AT_ONCE = 64 };

/* Whether one of AT_ONCE colors is at most FAR from COLOR in each channel. */
INLINE bool any_near(const struct chosen *chosen, int first, uint32_t color, uint8_t far)
{
    const uint8_t *red = chosen->of[0] + first, *green = chosen->of[1] + first;
    const uint8_t *blue = chosen->of[2] + first;
    const uint8_t r = color & 255, g = color >> 8 & 255, b = color >> 16;
    uint8_t least = 255;
    for (int i = 0; i < AT_ONCE; i++) {
        const uint8_t d = greater(greater(apart(red[i], r), apart(green[i], g)), apart(blue[i], b));
        least = d < least ? d : least;
    }
    return least <= far;
}

/*
 * Choose colors of cells, those of many pixels first, that no chosen one is near enough: by at most
 * FAR[size]. False if there are more than fit.
 */
MULTIVERSION
static bool choose_colors(struct chosen *chosen, const struct palette_maker *maker,
                          const uint8_t far[SIZES])
{
    chosen->count = 0;
    for (int i = 0; i < maker->cells; i++) {
        const uint32_t color = maker->color[maker->ordered[i]];
        bool near = false;
        for (int first = 0; first < chosen->count && !near; first += AT_ONCE)
            near = any_near(chosen, first, color, far[maker->size[i]]);
        if (near)
            continue;
        if (chosen->count == PALETTE_COLORS)
            return false;
        choose(chosen, color);
    }
    return true;
}

/* Find each cell's nearest color. */
MULTIVERSION
static void assign_cells(struct palette_maker *maker, const struct chosen *chosen)
{
    const int count = (chosen->count + AT_ONCE - 1) / AT_ONCE * AT_ONCE;
    for (int i = 0; i < maker->cells; i++) {
        const uint32_t color = maker->color[maker->cell[i]];
        const uint8_t r = color & 255, g = color >> 8 & 255, b = color >> 16;
        uint16_t best = UINT16_MAX;
        for (int j = 0; j < count; j++) {
            const uint8_t d =
                greater(greater(apart(chosen->of[0][j], r), apart(chosen->of[1][j], g)),
                        apart(chosen->of[2][j], b));
            const uint16_t both = (uint16_t)(d << 8 | j);
            best = both < best ? both : best;
        }
        maker->entry[maker->cell[i]] = best & 255;
    }
}

/*
 * How far colors may move: those of one pixel by up to FAR_FIRST levels of a channel, twice the
 * pixels by FAR_LESS * FAR_LESS of that, and all by FAR_MORE from try to try until PALETTE_COLORS
 * are enough. Pictures of more cells begin at more. Measured with relief: this bounds the worst
 * error at some 15 levels and keeps the mean near 1; a FAR_LESS of 1 has a lower worst error and a
 * higher mean.
 */
static const float FAR_FIRST = 3.5f, FAR_CELLS = 1.14f, FAR_MORE = 1.07f, FAR_LESS = 0.917f;
/* Beyond this, a picture keeps all of its colors. */
static const float FAR_MOST = 20;

static bool find_colors(struct chosen *chosen, const struct palette_maker *maker)
{
    float most = 0;

    if (maker->cells > PALETTE_COLORS) {
        most = FAR_FIRST;
        for (int i = size_of(PALETTE_COLORS); i < size_of((uint32_t)maker->cells); i++)
            most *= FAR_CELLS;
    }
    for (; most < FAR_MOST; most *= FAR_MORE) {
        uint8_t far[SIZES];
        float now = most;
        for (int i = 0; i < SIZES; i++, now *= FAR_LESS)
            far[i] = (uint8_t)now;
        if (choose_colors(chosen, maker, far))
            return true;
    }
    return false;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sums of colors that an entry of the palette stands for, by channel, and how many they are. */
struct sums {
    uint32_t of[3], count;
};

static void add_color(struct sums *sums, uint32_t color)
{
    for (int c = 0; c < 3; c++)
        sums->of[c] += color >> 8 * c & 255;
    sums->count++;
}

/* One pixel in so many is enough for a mean; the number has no factor in common with rows. */
enum { SAMPLED = 5 };

/*
 * Make the entries of the palette means, sorted by brightness. Means of pixels, not of what was
 * chosen: next to a border, tiles have much the same pixels, so that their means show no seam.
 */
static void finish(struct palette_maker *maker, uint8_t palette[PALETTE_COLORS][3], int colors,
                   const uint8_t *pixels, size_t count)
{
    struct sums sums[PALETTE_COLORS] = {{{0}, 0}};
    uint64_t order[PALETTE_COLORS];
    uint8_t rank[PALETTE_COLORS];

    for (int i = 0; i < maker->cells; i++)
        add_color(&sums[maker->entry[maker->cell[i]]], maker->color[maker->cell[i]]);
    for (size_t i = 0; i < count; i += SAMPLED)
        add_color(&sums[maker->entry[maker->at[i]]], color_at(pixels + 3 * i));
    for (int i = 0; i < colors; i++) {
        uint64_t mean[3];
        for (int c = 0; c < 3; c++)
            mean[c] = (sums[i].of[c] + sums[i].count / 2) / sums[i].count;
        const uint64_t brightness = 2 * mean[0] + 4 * mean[1] + mean[2];
        order[i] = brightness << 32 | mean[0] << 24 | mean[1] << 16 | mean[2] << 8 | (unsigned)i;
    }
    qsort(order, (size_t)colors, sizeof *order, ascending);
    for (int i = 0; i < colors; i++) {
        for (int c = 0; c < 3; c++)
            palette[i][c] = (uint8_t)(order[i] >> (24 - 8 * c));
        rank[order[i] & 255] = (uint8_t)i;
    }
    for (int i = 0; i < maker->cells; i++)
        maker->entry[maker->cell[i]] = rank[maker->entry[maker->cell[i]]];
}

int palette_make(struct palette_maker *maker, uint8_t *index, uint8_t palette[PALETTE_COLORS][3],
                 const uint8_t *pixels, size_t count)
{
    struct chosen chosen = {.count = 0};

    assert(count >= 1 && count <= PALETTE_PIXELS_MAX);
    bool found = count_cells(maker, pixels, count);

    if (found) {
        order_cells(maker);
        found = find_colors(&chosen, maker);
    }
    if (found) {
        assign_cells(maker, &chosen);
        finish(maker, palette, chosen.count, pixels, count);
        for (size_t i = 0; i < count; i++)
            index[i] = maker->entry[maker->at[i]];
    }
    forget_cells(maker);
    return found ? chosen.count : 0;
}
