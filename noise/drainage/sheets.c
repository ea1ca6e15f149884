/* Samples of the world's fields in sheets: squares that the blocks beside each other share. A field
 * of a hundred operations takes as long for a row of 12 samples as for one of 32. */
#include <string.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/exact/lattice.h"
#include "noise/farlands.h"

/* Samples of inputs FIRST to LAST, STEP apart, in column I and row J of such sheets. */
struct sheet {
    int64_t i, j, step;
    int first, last;
};

static int side_of(const struct sheet *sheet)
{
    return sheet->first == sheet->last ? ONE_SIDE : SEVERAL_SIDE;
}

static struct shared_cache *cache_of(const struct drainage *d, const struct sheet *sheet)
{
    return side_of(sheet) == ONE_SIDE ? d->cache->one : d->cache->several;
}

/* Get the samples of SHEET, pinned: of each input, rows without gaps. */
static int get_samples(struct drainage *d, const struct sheet *sheet, const float **out)
{
    enum { PARTS = 64 };
    const ptrdiff_t side = side_of(sheet), count = side * side;
    struct shared_cache *cache = cache_of(d, sheet);
    struct shared_key key = d->key;
    key.part = (key.part * PARTS + sheet->first) * PARTS + sheet->last;
    key.size = sheet->step;
    key.i = sheet->i;
    key.j = sheet->j;
    *out = shared_cache_pin(cache, &key);
    if (*out)
        return 0;
    const int64_t width = side * sheet->step;
    const struct farlands_grid grid = {sheet->i * width, sheet->j * width, sheet->step,
                                       (int)side,        (int)side,        true};
    float *samples[DRAINAGE_INPUTS] = {NULL};
    for (int k = sheet->first; k <= sheet->last; k++)
        samples[k] = d->sheet + (k - sheet->first) * count;
    const int err = d->source(d->context, &grid, samples);
    if (err)
        return err;
    float *content = shared_cache_claim(cache, &key);
    memcpy(content, d->sheet, (size_t)((sheet->last - sheet->first + 1) * count) * sizeof *content);
    shared_cache_publish(cache, content);
    *out = content;
    return 0;
}

/* A part of a row or column. */
struct part {
    int64_t first, end;
};

static struct part part_in(int64_t sheet, int side, int64_t first, int count)
{
    const int64_t begin = sheet * side, end = begin + side;
    return (struct part){begin < first ? first : begin, end < first + count ? end : first + count};
}

/* Copy what SHEET has of INPUT in GRID, whose first sample is in column I and row J. */
static void copy_samples(const struct sheet *sheet, const float *samples,
                         const struct farlands_grid *grid, int64_t i, int64_t j, int input,
                         float *out)
{
    const int side = side_of(sheet);
    const struct part columns = part_in(sheet->i, side, i, grid->width);
    const struct part rows = part_in(sheet->j, side, j, grid->height);
    const float *from = samples + (ptrdiff_t)(input - sheet->first) * side * side;
    for (int64_t row = rows.first; row < rows.end; row++)
        memcpy(out + (row - j) * grid->width + (columns.first - i),
               from + (row - sheet->j * side) * side + (columns.first - sheet->i * side),
               (size_t)(columns.end - columns.first) * sizeof *out);
}

int drainage_sample(struct drainage *d, const struct farlands_grid *grid, enum drainage_input first,
                    enum drainage_input last)
{
    const int64_t i = grid->x / grid->step, j = grid->y / grid->step;
    struct sheet sheet = {.step = grid->step, .first = (int)first, .last = (int)last};
    const int side = side_of(&sheet);
    const int64_t right = lattice_floor(i + grid->width - 1, side);
    const int64_t bottom = lattice_floor(j + grid->height - 1, side);
    for (sheet.j = lattice_floor(j, side); sheet.j <= bottom; sheet.j++)
        for (sheet.i = lattice_floor(i, side); sheet.i <= right; sheet.i++) {
            const float *samples;
            const int err = get_samples(d, &sheet, &samples);
            if (err)
                return err;
            for (enum drainage_input k = first; k <= last; k++)
                copy_samples(&sheet, samples, grid, i, j, (int)k, drainage_samples_of(d, k));
            shared_cache_unpin(cache_of(d, &sheet), samples);
        }
    return 0;
}
