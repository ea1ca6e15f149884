/* The gradient sets. They are constants because cosines differ between C libraries. */
#include "gradients.h"

#include <string.h>

/* cos and sin at (k + 1/2) 2 pi / 256, an eighth of a turn, rounded to the nearest float. */
static const float cosines[32] = {
    0x1.fff622p-1f, 0x1.ffa72ep-1f, 0x1.ff0956p-1f, 0x1.fe1cbp-1f,  0x1.fce16p-1f,  0x1.fb5798p-1f,
    0x1.f97f92p-1f, 0x1.f7599ap-1f, 0x1.f4e604p-1f, 0x1.f2253p-1f,  0x1.ef178ap-1f, 0x1.ebbd8cp-1f,
    0x1.e817bap-1f, 0x1.e426a4p-1f, 0x1.dfeae6p-1f, 0x1.db6526p-1f, 0x1.d69618p-1f, 0x1.d17e78p-1f,
    0x1.cc1f1p-1f,  0x1.c678b4p-1f, 0x1.c08c42p-1f, 0x1.ba5aa6p-1f, 0x1.b3e4d4p-1f, 0x1.ad2bcap-1f,
    0x1.a63092p-1f, 0x1.9ef43ep-1f, 0x1.9777fp-1f,  0x1.8fbccap-1f, 0x1.87c4p-1f,   0x1.7f8ecep-1f,
    0x1.771e76p-1f, 0x1.6e7446p-1f,
};
static const float sines[32] = {
    0x1.921d2p-7f,  0x1.2d8658p-5f, 0x1.f656e8p-5f, 0x1.5f6dp-4f,   0x1.c3785cp-4f, 0x1.139f0cp-3f,
    0x1.45576cp-3f, 0x1.76dd9ep-3f, 0x1.a82a02p-3f, 0x1.d934fep-3f, 0x1.04fb8p-2f,  0x1.1d3444p-2f,
    0x1.35410cp-2f, 0x1.4d1e24p-2f, 0x1.64c7dep-2f, 0x1.7c3a94p-2f, 0x1.9372a6p-2f, 0x1.aa6c82p-2f,
    0x1.c1249ep-2f, 0x1.d79776p-2f, 0x1.edc196p-2f, 0x1.01cfc8p-1f, 0x1.0c9704p-1f, 0x1.1734d6p-1f,
    0x1.21a79ap-1f, 0x1.2bedb2p-1f, 0x1.36058cp-1f, 0x1.3fed96p-1f, 0x1.49a44ap-1f, 0x1.53282ap-1f,
    0x1.5c77bcp-1f, 0x1.659192p-1f,
};

#define U 0x1.6a09e6p-1f /* 1 / sqrt 2 */

static const float axis4[][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
static const float diagonal4[][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
static const float unit8[][2] = {{U, U}, {-U, U}, {U, -U}, {-U, -U},
                                 {1, 0}, {-1, 0}, {0, 1},  {0, -1}};
static const float integer8[][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1},
                                    {1, 0}, {-1, 0}, {0, 1},  {0, -1}};

/* Improving Noise (2002): h < 8 ? x : y, and h < 4 ? y : h is 12 or 14 ? x : z, with signs by bits
 * 0 and 1. */
const float gradients_3d[3][32] = {
    {1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0, 1, 0, -1, 0,
     1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0, 1, 0, -1, 0},
    {1, 1, -1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1,
     1, 1, -1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1},
    {0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 1, 0, -1,
     0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 1, 0, -1},
};

/* One axis is left out: w, z, y or x. The other three have eight combinations of signs. */
const float gradients_4d[4][32] = {
    {1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1,
     1, -1, 1, -1, 1, -1, 1, -1, 0, 0,  0, 0,  0, 0,  0, 0},
    {1, 1, -1, -1, 1, 1, -1, -1, 1, 1,  -1, -1, 1, 1,  -1, -1,
     0, 0, 0,  0,  0, 0, 0,  0,  1, -1, 1,  -1, 1, -1, 1,  -1},
    {1, 1, 1,  1,  -1, -1, -1, -1, 0, 0, 0,  0,  0, 0, 0,  0,
     1, 1, -1, -1, 1,  1,  -1, -1, 1, 1, -1, -1, 1, 1, -1, -1},
    {0, 0, 0, 0, 0,  0,  0,  0,  1, 1, 1, 1, -1, -1, -1, -1,
     1, 1, 1, 1, -1, -1, -1, -1, 1, 1, 1, 1, -1, -1, -1, -1},
};

static void repeat(struct gradient_set *set, const float (*vectors)[2], unsigned count)
{
    for (unsigned h = 0; h < 32; h++) {
        set->x[h] = vectors[h % count][0];
        set->y[h] = vectors[h % count][1];
    }
    set->exchange = set->sign = 0;
}

static void full_circle(struct gradient_set *set)
{
    memcpy(set->x, cosines, sizeof cosines);
    memcpy(set->y, sines, sizeof sines);
    set->exchange = UINT32_MAX;
    set->sign = UINT32_C(1) << 31;
}

void gradients_make(struct gradient_set *set, enum farlands_gradients kind)
{
    switch (kind) {
    case FARLANDS_AXIS4:
        repeat(set, axis4, 4);
        break;
    case FARLANDS_DIAGONAL4:
        repeat(set, diagonal4, 4);
        break;
    case FARLANDS_UNIT8:
        repeat(set, unit8, 8);
        break;
    case FARLANDS_INTEGER8:
        repeat(set, integer8, 8);
        break;
    case FARLANDS_UNIT256:
        full_circle(set);
        break;
    }
}
