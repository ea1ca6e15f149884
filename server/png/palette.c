#include "palette.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/multiversion.h"

/*
 * A color cell holds colors that no eye tells apart: two steps of luma, four of each chroma
 * (YCoCg-R: Malvar and Sullivan, "YCoCg-R: A Color Space with RGB Reversibility and Low Dynamic
 * Range", 2003). A block holds four by four by four cells, because a picture's cells are close
 * together and then share few cache lines.
 */
enum {
    BLOCK_BITS = 15, /* five for luma and each chroma */
    BLOCK_CELLS = 64,
    BLOCKS = 1 << BLOCK_BITS,
    BLOCKS_MAX = 1024, /* per picture: about three times as many as varied terrain has */
    CELLS_MAX = BLOCKS_MAX * BLOCK_CELLS,
    NO_BLOCK = CELLS_MAX, /* where the cells without pixels begin */
};

/* Classes of pixel counts: two per power of two. */
enum { SIZES = 2 * 19 };
_Static_assert(PALETTE_PIXELS_MAX < 1 << (SIZES / 2), "each number of pixels has a size");

/* Cells by brightness, so that similar ones are close. Arrays are read and written by LANES. */
enum { LANES = 64, BRIGHTNESSES = 256 };
struct order {
    uint16_t cell[CELLS_MAX];
    uint8_t color[3][CELLS_MAX + LANES]; /* by channel */
    uint8_t size[CELLS_MAX];             /* the class of its pixel count */
    uint8_t far[CELLS_MAX];              /* how far the color may move, in each channel */
    uint8_t moved[CELLS_MAX + LANES];    /* how far it has moved */
    uint8_t entry[CELLS_MAX + LANES];    /* of the palette */
    int begin[BRIGHTNESSES + 1];         /* where the cells of each brightness begin */
    uint16_t popular[CELLS_MAX];         /* places, the largest cells first */
};

struct palette_maker {
    uint32_t block[BLOCKS];                  /* the first cell of each, or NO_BLOCK */
    uint16_t used[BLOCKS_MAX];               /* blocks that have cells */
    uint32_t count[CELLS_MAX + BLOCK_CELLS]; /* pixels; 0 between calls */
    uint32_t color[CELLS_MAX];               /* the first pixel's, 0xbbggrr */
    uint16_t cell[CELLS_MAX];                /* cells with pixels, in order of appearance */
    uint8_t entry[CELLS_MAX];                /* of the palette */
    struct order order;
    uint32_t at[PALETTE_PIXELS_MAX]; /* each pixel's cell */
    int blocks, cells;
};

struct palette_maker *palette_maker_new(void)
{
    struct palette_maker *maker = calloc(1, sizeof *maker);
    for (int i = 0; maker && i < BLOCKS; i++)
        maker->block[i] = NO_BLOCK;
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

/* Find the cells for keys; a new cell has no pixels. */
MULTIVERSION
static void find_cells(uint32_t *restrict out, const uint32_t *restrict block,
                       const uint32_t *restrict key, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = block[key[i] / BLOCK_CELLS] + key[i] % BLOCK_CELLS;
}

static inline uint32_t color_at(const uint8_t *pixel)
{
    return (uint32_t)pixel[0] | (uint32_t)pixel[1] << 8 | (uint32_t)pixel[2] << 16;
}

/* KEY's cell, added with COLOR if it has no pixel yet. Returns -1 if there are too many blocks. */
static int cell_of(struct palette_maker *maker, uint32_t key, uint32_t color)
{
    uint32_t *block = &maker->block[key / BLOCK_CELLS];

    if (*block == NO_BLOCK) {
        if (maker->blocks == BLOCKS_MAX)
            return -1;
        maker->used[maker->blocks] = (uint16_t)(key / BLOCK_CELLS);
        *block = (uint32_t)maker->blocks++ * BLOCK_CELLS;
    }
    const uint32_t cell = *block + key % BLOCK_CELLS;
    if (!maker->count[cell]) {
        maker->cell[maker->cells++] = (uint16_t)cell;
        maker->color[cell] = color;
    }
    return (int)cell;
}

enum { CHUNK = 512 };

/* Count each cell's pixels. Returns false if there are too many cells. */
static bool count_cells(struct palette_maker *maker, const uint8_t *pixels, size_t count)
{
    uint32_t key[CHUNK];

    maker->blocks = maker->cells = 0;
    for (size_t first = 0; first < count; first += CHUNK, pixels += 3 * CHUNK) {
        const size_t n = count - first < CHUNK ? count - first : CHUNK;
        uint32_t *at = maker->at + first;
        find_keys(key, pixels, n);
        find_cells(at, maker->block, key, n);
        for (size_t i = 0; i < n; i++) {
            if (!maker->count[at[i]]) {
                const int cell = cell_of(maker, key[i], color_at(pixels + 3 * i));
                if (cell < 0)
                    return false;
                at[i] = (uint32_t)cell;
            }
            maker->count[at[i]]++;
        }
    }
    return true;
}

static void forget_cells(struct palette_maker *maker)
{
    for (int i = 0; i < maker->cells; i++)
        maker->count[maker->cell[i]] = 0;
    for (int i = 0; i < maker->blocks; i++)
        maker->block[maker->used[i]] = NO_BLOCK;
}

/* The class of a pixel count: 0 for one pixel. */
static int size_of(uint32_t count)
{
    const int power = 31 - __builtin_clz(count);
    return 2 * power + (power && count >> (power - 1) & 1);
}

/* 0 to 255. */
static int brightness_of(uint32_t color)
{
    return (int)((color & 255) + (color >> 8 & 255) * 2 + (color >> 16)) / 4;
}

/* Turn COUNT sizes of groups into the groups' beginnings. Returns the sum. */
static int begin_of(int *number, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        const int n = number[i];
        number[i] = sum;
        sum += n;
    }
    return sum;
}

/* Cells with equal brightness, or equal size, stay in order of appearance. */
static void order_cells(struct palette_maker *maker)
{
    struct order *order = &maker->order;
    int bright[BRIGHTNESSES] = {0}, popular[SIZES] = {0};

    for (int i = 0; i < maker->cells; i++) {
        const unsigned cell = maker->cell[i];
        bright[brightness_of(maker->color[cell])]++;
        popular[SIZES - 1 - size_of(maker->count[cell])]++;
    }
    begin_of(popular, SIZES);
    order->begin[BRIGHTNESSES] = begin_of(bright, BRIGHTNESSES);
    memcpy(order->begin, bright, sizeof bright);
    for (int i = 0; i < maker->cells; i++) {
        const unsigned cell = maker->cell[i];
        const uint32_t color = maker->color[cell];
        const int size = size_of(maker->count[cell]), place = bright[brightness_of(color)]++;
        order->cell[place] = (uint16_t)cell;
        order->size[place] = (uint8_t)size;
        for (int c = 0; c < 3; c++)
            order->color[c][place] = color >> 8 * c & 255;
        order->popular[popular[SIZES - 1 - size]++] = (uint16_t)place;
    }
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

/* Move cells FIRST to END - 1 to ENTRY, which has the color at PLACE, if that is nearer. */
MULTIVERSION
static void move_cells(struct order *order, int first, int end, int place, uint8_t entry)
{
    const uint8_t *restrict red = order->color[0], *restrict green = order->color[1];
    const uint8_t *restrict blue = order->color[2];
    uint8_t *restrict moved = order->moved, *restrict entries = order->entry;
    const uint8_t r = red[place], g = green[place], b = blue[place];

    for (; first < end; first += LANES)
        for (int i = first; i < first + LANES; i++) {
            const uint8_t channels = greater(apart(red[i], r), apart(green[i], g));
            const uint8_t now = greater(channels, apart(blue[i], b));
            const bool nearer = now < moved[i];
            entries[i] = nearer ? entry : entries[i];
            moved[i] = nearer ? now : moved[i];
        }
}

/* Move cells to ENTRY, which has the color at PLACE, if that is nearer. May leave out cells farther
 * than MOST away, which also differ by more in brightness. */
static void add_entry(struct order *order, int place, uint8_t entry, int most)
{
    const uint32_t color = order->color[0][place] | (uint32_t)order->color[1][place] << 8 |
                           (uint32_t)order->color[2][place] << 16;
    const int brightness = brightness_of(color), low = brightness - most - 1;
    const int high = brightness + most + 1;
    const int first = order->begin[low < 0 ? 0 : low];
    const int end = order->begin[high < BRIGHTNESSES ? high + 1 : BRIGHTNESSES];
    move_cells(order, first, end, place, entry);
}

/*
 * Choose palette colors: go through the cells, the largest first, and take a cell's color if no
 * chosen color is near enough. Then give each cell the nearest one. No cell may move by more than
 * MOST. Returns how many colors there are; 0 if there are too many.
 */
static int choose_colors(struct order *order, int most)
{
    const int cells = order->begin[BRIGHTNESSES];
    int colors = 0;

    memset(order->moved, UINT8_MAX, sizeof order->moved);
    for (int i = 0; i < cells; i++) {
        const int place = order->popular[i];
        if (order->moved[place] <= order->far[place])
            continue;
        if (colors == PALETTE_COLORS)
            return 0;
        add_entry(order, place, (uint8_t)colors++, most);
    }
    return colors;
}

/*
 * How far colors may move: a color with one pixel by up to FAR_FIRST levels in a channel, with
 * twice the pixels by FAR_LESS * FAR_LESS times as much. Each try multiplies by FAR_MORE until
 * PALETTE_COLORS are enough. Pictures with more cells begin farther. Measured with relief: the
 * worst error is 15 to 20 levels, the mean near 1. FAR_LESS = 1 has a lower worst error and a
 * higher mean.
 */
static const float FAR_FIRST = 3.5f, FAR_CELLS = 1.14f, FAR_MORE = 1.07f, FAR_LESS = 0.917f;
/* Beyond this, a picture keeps all colors. */
static const float FAR_MOST = 20;

static int find_colors(struct palette_maker *maker)
{
    struct order *order = &maker->order;
    float most = 0;
    int colors = 0;

    if (maker->cells > PALETTE_COLORS) {
        most = FAR_FIRST;
        for (int i = size_of(PALETTE_COLORS); i < size_of((uint32_t)maker->cells); i++)
            most *= FAR_CELLS;
    }
    for (; !colors && most < FAR_MOST; most *= FAR_MORE) {
        uint8_t far[SIZES];
        float now = most;
        for (int size = 0; size < SIZES; size++, now *= FAR_LESS)
            far[size] = (uint8_t)now;
        for (int i = 0; i < maker->cells; i++)
            order->far[i] = far[order->size[i]];
        colors = choose_colors(order, (int)most);
    }
    return colors;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Per palette entry, the sums of its pixels by channel, and how many pixels there are. */
struct sums {
    uint32_t of[3], count;
};

static void add_color(struct sums *sums, uint32_t color)
{
    for (int c = 0; c < 3; c++)
        sums->of[c] += color >> 8 * c & 255;
    sums->count++;
}

/* One pixel in so many is enough for a mean; the number shares no factor with a row's length. */
enum { SAMPLED = 5 };

/*
 * Replace the palette's entries with means of their pixels, sorted by brightness. Two tiles have
 * much the same pixels beside their border, so means show no seam; the chosen colors might.
 */
static void finish(struct palette_maker *maker, uint8_t palette[PALETTE_COLORS][3], int colors,
                   const uint8_t *pixels, size_t count)
{
    struct sums sums[PALETTE_COLORS] = {{{0}, 0}};
    uint64_t order[PALETTE_COLORS] = {0};
    uint8_t rank[PALETTE_COLORS] = {0};

    for (int i = 0; i < maker->cells; i++) {
        const unsigned cell = maker->order.cell[i];
        maker->entry[cell] = maker->order.entry[i];
        add_color(&sums[maker->entry[cell]], maker->color[cell]);
    }
    for (size_t i = 0; i < count; i += SAMPLED)
        add_color(&sums[maker->entry[maker->at[i]]], color_at(pixels + 3 * i));
    for (int i = 0; i < colors; i++) {
        uint64_t mean[3];
        assert(sums[i].count > 0); /* an entry has the color of a cell */
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
    int colors = 0;

    assert(count >= 1 && count <= PALETTE_PIXELS_MAX);
    if (count_cells(maker, pixels, count)) {
        order_cells(maker);
        colors = find_colors(maker);
    }
    if (colors) {
        finish(maker, palette, colors, pixels, count);
        for (size_t i = 0; i < count; i++)
            index[i] = maker->entry[maker->at[i]];
    }
    forget_cells(maker);
    return colors;
}
