/* The values for rows of samples, from the water and the valleys that rivers.c found near them. */
#include <string.h>

#include "noise/water/rivers_parts.h"

/* WIDTH times VALUE. */
static void fill_row(float *out, int width, float value)
{
    for (int i = 0; i < width; i++)
        out[i] = value;
}

void rivers_bank(const struct rivers *r, int j, int rows, int width, struct rows out)
{
    /* 1 unless the picture is coarse. */
    const float scale = (float)RIVERS_NEAR / rivers_near_reach(r);
    for (int k = 0; k < rows; k++) {
        float *to = out.at + (size_t)k * out.stride;
        if (!r->wet[j + k]) {
            fill_row(to, width, rivers_near_reach(r) * scale); /* as in rows that have water */
            continue;
        }
        for (int i = 0; i < width; i++) {
            const float bank = r->near.bank[j + k][i];
            to[i] = bank > 0 ? bank * scale : bank;
        }
    }
}

void rivers_order(const struct rivers *r, int j, int rows, int width, struct rows out)
{
    const float reach = (float)RIVERS_PICTURE_NEAR * r->near_samples;
    for (int k = 0; k < rows; k++) {
        float *to = out.at + (size_t)k * out.stride;
        if (r->wet[j + k])
            r->kernel->river_order(&r->near, j + k, width, reach, to);
        else
            fill_row(to, width, 0);
    }
}

void rivers_water(const struct rivers *r, int j, int rows, int width, struct rows in,
                  struct rows out)
{
    for (int k = 0; k < rows; k++) {
        float *to = out.at + (size_t)k * out.stride;
        if (r->wet[j + k])
            r->kernel->river_water(&r->near, j + k, width, in.at + (size_t)k * in.stride, to);
        else
            fill_row(to, width, RIVERS_DRY);
    }
}

void rivers_channel(const struct rivers *r, int j, int rows, int width, struct rows in,
                    struct rows out)
{
    for (int k = 0; k < rows; k++) {
        const float *from = in.at + (size_t)k * in.stride;
        float *to = out.at + (size_t)k * out.stride;
        if (r->wet[j + k])
            r->kernel->river_channel(&r->near, j + k, width, from, to);
        else if (from != to)
            memcpy(to, from, (size_t)width * sizeof *to);
    }
}

void rivers_base_level(const struct rivers *r, int j, int rows, int width, struct rows out)
{
    for (int k = 0; k < rows; k++) {
        const float *base = r->valleys.base[j + k], *nearness = r->valleys.nearness[j + k];
        float *to = out.at + (size_t)k * out.stride;
        for (int i = 0; i < width; i++)
            to[i] = base[i] / (nearness[i] + RIVERS_SEA_NEARNESS);
    }
}

void rivers_carve(const struct rivers *r, int j, int rows, int width, struct rows in,
                  struct rows out)
{
    for (int k = 0; k < rows; k++)
        r->kernel->river_carve(&r->valleys, 1 / (float)r->network.params.lake, j + k, width,
                               in.at + (size_t)k * in.stride, out.at + (size_t)k * out.stride);
}
