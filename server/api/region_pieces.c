#include "region_pieces.h"

#include "server/tiles/render.h"

/* Reduce an axis with *COUNT samples from *START on to samples FIRST to LAST. */
static void narrow_axis(int64_t *start, int *count, int64_t step, uint64_t first, uint64_t last)
{
    *start += (int64_t)first * step;
    *count = (int)(last - first) + 1;
}

/*
 * Reduce BOX to the smallest box that contains samples FIRST to LAST and is contiguous: layers,
 * rows in one layer, or samples in one row. Returns the first sample's number.
 */
static uint64_t narrow(struct farlands_box *box, uint64_t first, uint64_t last)
{
    const uint64_t width = (uint64_t)box->width, layer = width * (uint64_t)box->height;
    const uint64_t above = first / layer, below = last / layer;
    const uint64_t north = first % layer / width, south = last % layer / width;

    narrow_axis(&box->z, &box->depth, box->step, above, below);
    if (below > above)
        return above * layer;
    narrow_axis(&box->y, &box->height, box->step, north, south);
    if (south > north)
        return above * layer + north * width;
    narrow_axis(&box->x, &box->width, box->step, first % width, last % width);
    return first;
}

uint64_t region_pieces_narrow(struct farlands_box *box, unsigned sample_size, uint64_t first,
                              uint64_t length)
{
    return sample_size * narrow(box, first / sample_size, (first + length - 1) / sample_size);
}

void region_pieces_cut(struct region_pieces *pieces, const struct farlands_box *box, uint64_t most)
{
    const int layer = box->width * box->height;
    const int limit = most < RENDER_PIECE_MAX ? (int)most : RENDER_PIECE_MAX;

    *pieces = (struct region_pieces){.box = *box, .rows = box->height, .layers = 1, .across = 1};
    if (layer > limit) {
        pieces->rows = limit > box->width ? limit / box->width : 1;
        pieces->across = (unsigned)((box->height + pieces->rows - 1) / pieces->rows);
    } else {
        const int fit = limit / layer;
        pieces->layers = fit < box->depth ? fit : box->depth;
    }
    pieces->count = pieces->across * (unsigned)((box->depth + pieces->layers - 1) / pieces->layers);
}

/* How many samples of the box come before piece INDEX. */
static uint64_t samples_before(const struct region_pieces *pieces, unsigned index)
{
    const uint64_t row = (uint64_t)pieces->box.width, layer = row * (uint64_t)pieces->box.height;

    return index / pieces->across * layer * (uint64_t)pieces->layers +
           index % pieces->across * row * (uint64_t)pieces->rows;
}

/* Whole layers may contain pieces before and behind the range. */
void region_pieces_keep(struct region_pieces *pieces, unsigned sample_size, uint64_t first,
                        uint64_t length)
{
    const uint64_t sample = first / sample_size, last = (first + length - 1) / sample_size;
    unsigned end = pieces->count;

    while (samples_before(pieces, end - 1) > last)
        end--;
    while (samples_before(pieces, pieces->first + 1) <= sample && pieces->first + 1 < end)
        pieces->first++;
    pieces->count = end - pieces->first;
    pieces->offset = first - sample_size * samples_before(pieces, pieces->first);
}

static int min(int a, int b)
{
    return a < b ? a : b;
}

uint64_t region_pieces_largest(const struct region_pieces *pieces)
{
    return (uint64_t)pieces->box.width * (uint64_t)pieces->rows * (uint64_t)pieces->layers;
}

struct farlands_box region_pieces_box(const struct region_pieces *pieces, unsigned number)
{
    const unsigned index = pieces->first + number;
    const int row = (int)(index % pieces->across) * pieces->rows;
    const int layer = (int)(index / pieces->across) * pieces->layers;
    struct farlands_box box = pieces->box;

    box.y += row * box.step;
    box.z += layer * box.step;
    box.height = min(pieces->rows, box.height - row);
    box.depth = min(pieces->layers, box.depth - layer);
    return box;
}
