/* The gradient sets, as constants: libm's cosines differ between C libraries. */
#include "gradients.h"

/* cos(2 pi k / 256) for the first quarter turn, rounded to the nearest float. */
static const float quarter[65] = {
    0x1p+0f,        0x1.ffd886p-1f, 0x1.ff621ep-1f, 0x1.fe9cdap-1f, 0x1.fd88dap-1f, 0x1.fc2648p-1f,
    0x1.fa7558p-1f, 0x1.f8765p-1f,  0x1.f6297cp-1f, 0x1.f38f3ap-1f, 0x1.f0a7fp-1f,  0x1.ed740ep-1f,
    0x1.e9f416p-1f, 0x1.e6288ep-1f, 0x1.e2121p-1f,  0x1.ddb13cp-1f, 0x1.d906bcp-1f, 0x1.d4134ep-1f,
    0x1.ced7bp-1f,  0x1.c954b2p-1f, 0x1.c38b3p-1f,  0x1.bd7c0ap-1f, 0x1.b72834p-1f, 0x1.b090a6p-1f,
    0x1.a9b662p-1f, 0x1.a29a7ap-1f, 0x1.9b3e04p-1f, 0x1.93a224p-1f, 0x1.8bc806p-1f, 0x1.83b0ep-1f,
    0x1.7b5df2p-1f, 0x1.72d084p-1f, 0x1.6a09e6p-1f, 0x1.610b76p-1f, 0x1.57d694p-1f, 0x1.4e6cacp-1f,
    0x1.44cf32p-1f, 0x1.3affa2p-1f, 0x1.30ff8p-1f,  0x1.26d054p-1f, 0x1.1c73b4p-1f, 0x1.11eb36p-1f,
    0x1.07387ap-1f, 0x1.f8ba4ep-2f, 0x1.e2b5d4p-2f, 0x1.cc66eap-2f, 0x1.b5d1p-2f,   0x1.9ef794p-2f,
    0x1.87de2ap-2f, 0x1.708854p-2f, 0x1.58f9a8p-2f, 0x1.4135cap-2f, 0x1.294062p-2f, 0x1.111d26p-2f,
    0x1.f19f98p-3f, 0x1.c0b826p-3f, 0x1.8f8b84p-3f, 0x1.5e2144p-3f, 0x1.2c8106p-3f, 0x1.f564e6p-4f,
    0x1.917a6cp-4f, 0x1.2d520ap-4f, 0x1.91f66p-5f,  0x1.92156p-6f,  0.0f,
};

#define U 0x1.6a09e6p-1f /* 1 / sqrt 2 */

static const float axis4[][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
static const float diagonal4[][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
static const float unit8[][2] = {{U, U}, {-U, U}, {U, -U}, {-U, -U},
                                 {1, 0}, {-1, 0}, {0, 1},  {0, -1}};
static const float integer8[][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1},
                                    {1, 0}, {-1, 0}, {0, 1},  {0, -1}};

static void repeat(struct gradient_set *set, const float (*vectors)[2], unsigned count)
{
    for (unsigned h = 0; h < 256; h++) {
        set->x[h] = vectors[h % count][0];
        set->y[h] = vectors[h % count][1];
    }
}

/* 256 unit vectors, evenly spaced, counter-clockwise from (1, 0). */
static void full_circle(struct gradient_set *set)
{
    for (unsigned k = 0; k < 64; k++) {
        float c = quarter[k], s = quarter[64 - k];
        set->x[k] = c, set->y[k] = s;
        set->x[k + 64] = -s, set->y[k + 64] = c;
        set->x[k + 128] = -c, set->y[k + 128] = -s;
        set->x[k + 192] = s, set->y[k + 192] = -c;
    }
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
