/* Layers: the pixels of synthetic heights, and the table. */
#include "server/layers/layer.h"

#include <math.h>

#include "server/layers/climate_colors.h"
#include "server/layers/inland_water.h"
#include "server/layers/paint.h"
#include "server/layers/scale.h"
#include "server/layers/shading.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/sample_biomes.h"

enum { SIZE = 64, REACH = 3, FIELD = SIZE + 2 * REACH };

static float field[FIELD * FIELD], temperature[FIELD * FIELD], humidity[FIELD * FIELD];
static float canopy[FIELD * FIELD];
static bool has_canopy;
static uint8_t pixels[512 * 512 * 3] __attribute__((aligned(8)));
static struct color_table colors;

/* Water below 0 metres, land above, and a coast. */
static const struct palette_stop stops[] = {{-100, 0x20, 0x40, 0x60}, {-50, 0x30, 0x60, 0x90},
                                            {0, 0x80, 0xc0, 0xe0},    {0, 0xe0, 0xd0, 0xa0},
                                            {20, 0x50, 0x80, 0x40},   {100, 0xff, 0xff, 0xff}};

static void make_colors_from(float min)
{
    static struct world_config world;
    memcpy(world.palette, stops, sizeof stops);
    world.stops = ROWS(stops);
    color_table_make(&colors, &world, min, 100);
}

static void make_colors(void)
{
    make_colors_from(-100);
}

/* One color everywhere, so that only the light differs. */
static void make_gray_colors(void)
{
    static struct world_config world;
    world.palette[0] = world.palette[1] = (struct palette_stop){0, 120, 120, 120};
    world.stops = 2;
    color_table_make(&colors, &world, -1000, 1000);
}

/* A plane: BASE in the middle, rising towards the east and the south. */
static void make_plane(float base, float east, float south)
{
    for (int j = 0; j < FIELD; j++)
        for (int i = 0; i < FIELD; i++)
            field[j * FIELD + i] =
                base + east * (float)(i - FIELD / 2) + south * (float)(j - FIELD / 2);
}

static struct heights field_heights(int left, int top, int size, int reach, float exaggeration)
{
    const int first = (REACH + top) * FIELD + REACH + left;
    return (struct heights){.first = field + first,
                            .temperature = temperature + first,
                            .humidity = humidity + first,
                            .canopy = has_canopy ? canopy + first : NULL,
                            .stride = FIELD,
                            .size = size,
                            .rows = size,
                            .reach = reach,
                            .spacing = 1,
                            .exaggeration = exaggeration,
                            .range = {colors.min, colors.max}};
}

static const struct layer *layer_called(const char *name)
{
    const struct layer *layer = layers;
    while (strcmp(layer->name, name) != 0)
        layer++;
    return layer;
}

static void paint(const char *name, int reach, float exaggeration)
{
    struct heights heights = field_heights(0, 0, SIZE, reach, exaggeration);
    memset(pixels, 'x', sizeof pixels);
    const struct layer *layer = layer_called(name);
    layer->paint(&heights, &colors, pixels);
    ck_assert_int_eq(pixels[SIZE * SIZE * pixel_bytes(layer->pixel)], 'x');
}

/* The ends of the range, and the nearest value in between. */
START_TEST(test_gray_and_height)
{
    make_colors();
    for (int k = 0; k < FIELD * FIELD; k++)
        field[k] = fminf(-100 + 200 * (float)k / (FIELD * FIELD - FIELD), 100);
    field[REACH * FIELD + REACH] = -100;
    field[(REACH + SIZE - 1) * FIELD + REACH + SIZE - 1] = 100;
    for (int row = 0; row < 3; row++) {
        const int wide = row > 0;
        paint((const char *[]){"gray", "height", "field"}[row], 1, 1);
        double most = wide ? 65535 : 255;
        for (int j = 0; j < SIZE; j++)
            for (int i = 0; i < SIZE; i++) {
                float height = field[(REACH + j) * FIELD + REACH + i];
                int k = j * SIZE + i;
                int value = wide ? ((uint16_t *)(void *)pixels)[k] : pixels[k];
                must(fabs(value - (height + 100.0) / 200 * most) <= 0.51, "%g metres as %d",
                     (double)height, value);
            }
        int first = wide ? ((uint16_t *)(void *)pixels)[0] : pixels[0];
        int last = wide ? ((uint16_t *)(void *)pixels)[SIZE * SIZE - 1] : pixels[SIZE * SIZE - 1];
        ck_assert_int_eq(first, 0);
        ck_assert_int_eq(last, (int)most);
    }
}
END_TEST

/* Over the range of a byte, every id is its own pixel. */
START_TEST(test_ids)
{
    colors.min = 0;
    colors.max = 255;
    for (int k = 0; k < FIELD * FIELD; k++)
        field[k] = (float)(k % 256);
    paint("biome", 1, 1);
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++)
            ck_assert_int_eq(pixels[j * SIZE + i], ((REACH + j) * FIELD + REACH + i) % 256);
}
END_TEST

/* The palette's color at METRES, linear between its stops. */
static void palette_at(float metres, double rgb[3])
{
    int i = 0;
    while (i < ROWS(stops) - 2 && stops[i + 1].metres <= metres)
        i++;
    const struct palette_stop *a = &stops[i], *b = &stops[i + 1];
    double t = (metres - a->metres) / (b->metres - a->metres);
    rgb[0] = a->red + (b->red - a->red) * t;
    rgb[1] = a->green + (b->green - a->green) * t;
    rgb[2] = a->blue + (b->blue - a->blue) * t;
}

/* Level ground keeps the palette's color, however much heights are exaggerated. */
START_TEST(test_level_ground)
{
    static const float exaggerations[] = {0, 0.01f, 1, 1e6f};
    make_colors();
    for (float metres = -100; metres <= 100; metres += 1.3f) {
        double rgb[3];
        palette_at(metres, rgb);
        make_plane(metres, 0, 0);
        paint("relief", 1 + (int)(fabsf(metres)) % REACH, exaggerations[(int)fabsf(metres) % 4]);
        for (int k = 0; k < SIZE * SIZE * 3; k++)
            must(fabs(pixels[k] - rgb[k % 3]) <= 1, "%g metres: %d, not %g", (double)metres,
                 pixels[k], rgb[k % 3]);
    }
}
END_TEST

/* If the palette has an edge at sea level, 0 metres is land, and everything below is sea. */
START_TEST(test_coast)
{
    static const float metres[] = {-0.013f, -1e-4f, 0, 1e-4f, 0.013f};
    for (int i = 0; i < ROWS(metres) * 40; i++) {
        const float at = metres[i % ROWS(metres)];
        double rgb[3];
        make_colors_from(-100 + (float)(i / ROWS(metres)) * 1.7f); /* 0 anywhere in the table */
        palette_at(at, rgb);
        make_plane(at, 0, 0);
        paint("relief", 1, 1);
        for (int k = 0; k < 3; k++)
            must(fabs(pixels[k] - rgb[k]) <= 1, "%g metres from %g: %d, not %g", (double)at,
                 (double)colors.min, pixels[k], rgb[k]);
    }
}
END_TEST

/* The ends of the range get the palette's end colors. */
START_TEST(test_level_ends)
{
    make_colors();
    make_plane(-100, 0, 0);
    paint("relief", 1, 1);
    ck_assert_int_le(abs(pixels[0] - stops[0].red), 1);
    ck_assert_int_le(abs(pixels[1] - stops[0].green), 1);
    ck_assert_int_le(abs(pixels[2] - stops[0].blue), 1);
    make_plane(100, 0, 0);
    paint("relief", 1, 1);
    for (int channel = 0; channel < 3; channel++)
        ck_assert_int_eq(pixels[channel], 255);
}
END_TEST

/* Biomes, two of them of steep ground. */
static const struct biome_table biomes = {
    .rows = {{SAMPLE_BIOMES,
              {6, {{-INFINITY, 15}, ANY, ANY, {0.7F, INFINITY}}},
              {7, {{15, INFINITY}, ANY, ANY, {0.7F, INFINITY}}}},
             8},
    .look = {SAMPLE_LOOKS, {"rock", {120, 110, 100}}, {"red rock", {150, 80, 50}}},
};

/* The color table's range is 100 metres; heights above it are in no palette. */
static void make_climate(void)
{
    make_colors();
    colors.climate = climate_colors_new(&biomes, &colors);
    ck_assert_ptr_nonnull(colors.climate);
}

static void free_climate(void)
{
    free(colors.climate);
    colors.climate = NULL;
}

static void set_climate(float degrees, float part)
{
    for (int k = 0; k < FIELD * FIELD; k++) {
        temperature[k] = degrees;
        humidity[k] = part;
    }
}

/* Without exaggeration, which lights nothing. */
static const uint8_t *painted_climate(float degrees, float part, float metres, float slope)
{
    set_climate(degrees, part);
    make_plane(metres, slope, 0);
    paint("relief", 1, 0);
    return pixels + 3 * (SIZE / 2 * SIZE + SIZE / 2);
}

static const struct {
    float temperature, humidity, metres, slope;
    int row; /* of biomes */
} climates[] = {
    {25, 0.1F, 50, 0, 4},    {-50, 0.1F, 50, 0, 2},   {60, -0.5F, 50, 0, 4},
    {5, 0.9F, 50, 0, 3},     {5, 2, 50, 0, 3},        {15, 0.1F, 2, 0, 1},
    {15, 0.9F, 2, 0, 1},     {5, 0.9F, 2000, 0, 5},   {-15, 0.9F, 2000, 0, 2},
    {-15, 0.9F, 2, 0, 2},    {5, 0.9F, 50, 0.5F, 3},  {5, 0.9F, 50, 1.2F, 6},
    {25, 0.9F, 50, 1.2F, 7}, {-15, 0.5F, 2000, 1, 6}, {5, 0.9F, 0, 0, 1},
};

/* Plants that rise towards the east, on ground that does so, too. */
static const struct {
    float ground, plants;
} canopies[] = {{0, 0}, {0, 0.4F}, {0.2F, 0.3F}, {0.3F, -0.3F}, {-0.1F, -0.4F}};

/* Light falls on plants as on ground with the sum of both slopes. */
START_TEST(test_canopy)
{
    uint8_t expected[3];
    make_climate();
    set_climate(5, 0.9F);
    for (int i = 0; i < ROWS(canopies); i++) {
        const size_t middle = 3 * (SIZE / 2 * SIZE + SIZE / 2);
        make_plane(50, canopies[i].ground + canopies[i].plants, 0);
        paint("relief", 1, 1);
        memcpy(expected, pixels + middle, sizeof expected);
        make_plane(3, canopies[i].plants, 0);
        memcpy(canopy, field, sizeof canopy);
        make_plane(50, canopies[i].ground, 0);
        has_canopy = true;
        paint("relief", 1, 1);
        has_canopy = false;
        for (int c = 0; c < 3; c++)
            must(abs(pixels[middle + (size_t)c] - expected[c]) <= 1,
                 "row %d: channel %d: %d, not %d", i, c, pixels[middle + (size_t)c], expected[c]);
    }
    free_climate();
}
END_TEST

/* Plants that are as steep as a wall turn nothing into rock. */
START_TEST(test_canopy_is_no_rock)
{
    uint8_t expected[3];
    const size_t middle = 3 * (SIZE / 2 * SIZE + SIZE / 2);
    make_climate();
    memcpy(expected, painted_climate(5, 0.9F, 50, 0), sizeof expected);
    make_plane(3, 5, 0);
    memcpy(canopy, field, sizeof canopy);
    has_canopy = true;
    painted_climate(5, 0.9F, 50, 0);
    has_canopy = false;
    ck_assert_mem_eq(pixels + middle, expected, sizeof expected);
    free_climate();
}
END_TEST

/* Well inside its box, a biome has its own color; on steep ground, that of a steep one. */
START_TEST(test_climates)
{
    make_climate();
    for (int i = 0; i < ROWS(climates); i++) {
        const uint8_t *p = painted_climate(climates[i].temperature, climates[i].humidity,
                                           climates[i].metres, climates[i].slope);
        for (int c = 0; c < 3; c++)
            must(abs(p[c] - biomes.look[climates[i].row].color[c]) <= 6, "row %d: %d %d %d", i,
                 p[0], p[1], p[2]);
    }
    double water[3];
    palette_at(-30, water);
    for (int c = 0; c < 3; c++)
        ck_assert_double_eq_tol(painted_climate(15, 0.1F, -30, 0)[c], water[c], 1);
    free_climate();
}
END_TEST

/* A step of one of temperature, humidity, height and slope changes no channel by more than this. */
static const struct {
    float first[4], step[4];
    int steps, most;
} paths[] = {
    {{-35, 0.5F, 50, 0}, {0.02F, 0, 0, 0}, 4000, 10},
    {{10, -0.1F, 50, 0}, {0, 0.0005F, 0, 0}, 2400, 8},
    {{10, 0.7F, 0, 0}, {0, 0, 0.01F, 0}, 1000, 4},
    {{10, 0.7F, 700, 0}, {0, 0, 0.5F, 0}, 1500, 4},
    {{10, 0.7F, 50, 0}, {0, 0, 0, 0.002F}, 700, 4},
};

START_TEST(test_climate_is_continuous)
{
    const float *first = paths[_i].first, *step = paths[_i].step;
    uint8_t last[3] = {0};
    make_climate();
    for (int k = 0; k < paths[_i].steps; k++) {
        const float n = (float)k;
        const uint8_t *p = painted_climate(first[0] + n * step[0], first[1] + n * step[1],
                                           first[2] + n * step[2], first[3] + n * step[3]);
        for (int c = 0; c < 3; c++) {
            must(k == 0 || abs(p[c] - last[c]) <= paths[_i].most, "step %d: %d, %d", k, last[c],
                 p[c]);
            last[c] = p[c];
        }
    }
    free_climate();
}
END_TEST

/* --- Rivers and lakes --- */

static float surface[FIELD * FIELD], order[FIELD * FIELD], bank[FIELD * FIELD];

/* Widths of orders: a factor of 2 from 1 m on. */
static struct river_scale scale_of(double metres)
{
    double width[RIVER_ORDERS];
    for (int k = 0; k < RIVER_ORDERS; k++)
        width[k] = ldexp(0.5, k);
    return river_scale_make(metres, width);
}

/* Level ground, and a river of RIVER along the middle column, DEPTH deep, if samples are STEP
 * metres apart. */
static void make_river(float river, float depth, float step)
{
    const float half = ldexpf(0.25f, (int)river);
    make_plane(50, 0, 0);
    for (int j = 0; j < FIELD; j++)
        for (int i = 0; i < FIELD; i++) {
            const int k = j * FIELD + i;
            const float away = fabsf((float)(i - REACH - SIZE / 2)) * step - half;
            bank[k] = away > 0 && step > 128 ? away * 128 / step : away;
            bank[k] = bank[k] < 256 ? bank[k] : 256;
            order[k] = away < 2 * step ? river : 0;
            surface[k] = away < 0 ? 50 : -32768;
            field[k] = away < 0 ? 50 - depth : 50;
        }
}

static void paint_wet(const char *layer, float step, bool climate)
{
    struct heights heights = field_heights(0, 0, SIZE, 1, 0);
    const ptrdiff_t first = heights.first - field;
    heights.water = surface + first;
    heights.river = order + first;
    heights.bank = bank + first;
    heights.rivers = scale_of((double)step);
    if (!climate)
        free_climate();
    layer_called(layer)->paint(&heights, &colors, pixels);
}

/* How much water there is in column I, from its red: 0 to 1. */
static double share_of(int i)
{
    const double ground = pixels[0], water = colors.shallow & 255;
    return (ground - pixels[3 * (10 * SIZE + i)]) / (ground - water);
}

/* Widths in pixels of rivers of this order, and how strong their lines are. */
static const struct {
    float order, step;
    double width, strength;
} lines[] = {
    /* As wide as they are. */
    {6, 1, 32, 1},
    {5, 1, 16, 1},
    {6, 2, 16, 1},
    /* Lines. */
    {3, 16, 1.2, 1},
    {4, 32, 1.2, 1},
    {7, 256, 1.2, 1},
    {8, 512, 1.2, 1},
    {3, 0.5F, 8, 1},
    /* Fainter ones, and none. */
    {6, 256, 1.2, 0.67},
    {5, 256, 1.2, 0.33},
    {3, 64, 1.2, 0.33},
    {4, 256, 1.2, 0},
    {3, 2048, 1.2, 0},
};

START_TEST(test_rivers)
{
    make_colors();
    make_river(lines[_i].order, 0, lines[_i].step);
    paint_wet("relief", lines[_i].step, false);
    double sum = 0;
    for (int i = 0; i < SIZE; i++) {
        sum += share_of(i);
        must(share_of(i) > -0.01 && share_of(i) < 1.01, "column %d: %g", i, share_of(i));
        must(i == 0 || i > SIZE / 2 || share_of(i) >= share_of(i - 1), "column %d", i);
    }
    must(fabs(share_of(SIZE / 2) - lines[_i].strength) < 0.04, "strength %g", share_of(SIZE / 2));
    const double width = sum / (lines[_i].strength > 0 ? lines[_i].strength : 1);
    must(lines[_i].strength > 0 ? fabs(width - lines[_i].width) < 0.3 : sum == 0, "width %g",
         width);
}
END_TEST

/* From zoom to zoom lines change little. */
START_TEST(test_rivers_do_not_flicker)
{
    make_colors();
    for (float river = 3; river < 7; river += 0.5F) {
        double last = -1;
        for (float step = 1; step <= 2048; step *= 2) {
            make_river(river, 0, step);
            paint_wet("relief", step, false);
            const double now = share_of(SIZE / 2);
            must(last < 0 || (now <= last + 0.06 && now > last - 0.4), "order %g, step %g: %g, %g",
                 (double)river, (double)step, last, now);
            last = now;
        }
    }
}
END_TEST

/* Lakes are deep, whatever the scale; ice covers what is cold; the sea stays as it is. */
START_TEST(test_lakes)
{
    for (int cold = 0; cold < 2; cold++) {
        make_climate();
        set_climate(cold ? -20 : 15, 0.5F);
        make_plane(50, 0, 0);
        for (int k = 0; k < FIELD * FIELD; k++) {
            const int i = k % FIELD - REACH;
            order[k] = 0;
            bank[k] = 256;
            field[k] = i < 16 ? 50 : i < 32 ? 49.9F : i < 48 ? -2000 : -50;
            surface[k] = i < 48 ? 50 : -32768;
        }
        paint_wet("relief", 64, true);
        const uint8_t *row = pixels + 3 * 10 * SIZE;
        for (int c = 0; c < 3; c++) {
            const int shallow = colors.shallow >> 8 * c & 255, deep = colors.deep >> 8 * c & 255;
            const int ice[] = {0xe4, 0xee, 0xf3};
            double sea[3];
            palette_at(-50, sea);
            ck_assert_int_le(abs(row[3 * 20 + c] - (cold ? ice[c] : shallow)), 2);
            ck_assert_int_le(abs(row[3 * 40 + c] - (cold ? ice[c] : deep)), 3);
            ck_assert_double_eq_tol(row[3 * 56 + c], sea[c], 1);
        }
        free_climate();
    }
}
END_TEST

/* Each pixel alone is that of the picture. */
START_TEST(test_pieces_of_water)
{
    static uint8_t whole[SIZE * SIZE * 3];
    uint64_t state = 31;
    make_climate();
    for (int k = 0; k < FIELD * FIELD; k++) {
        const bool wet = k / FIELD % 2; /* rows without water, too */
        field[k] = (float)chance_below(&state, 100) - 50;
        surface[k] = wet && chance_below(&state, 2) ? 20 : -32768;
        order[k] = wet ? (float)chance_below(&state, 10) : 0;
        bank[k] = (float)chance_below(&state, 100) - 50;
        temperature[k] = (float)chance_below(&state, 40) - 20;
    }
    paint_wet("relief", 20, true);
    memcpy(whole, pixels, sizeof whole);
    for (int k = 0; k < SIZE * SIZE; k++) {
        struct heights heights = field_heights(k % SIZE, k / SIZE, 1, 1, 0);
        const ptrdiff_t first = heights.first - field;
        heights.water = surface + first;
        heights.river = order + first;
        heights.bank = bank + first;
        heights.rivers = scale_of(20);
        layer_called("relief")->paint(&heights, &colors, pixels);
        must(memcmp(pixels, whole + 3 * k, 3) == 0, "pixel %d", k);
    }
    free_climate();
}
END_TEST

/* The layer of water alone: the share of rivers and lakes as opacity, the sea, nothing on land. */
START_TEST(test_overlay)
{
    make_climate();
    set_climate(15, 0.5F);
    make_river(6, 3, 1);
    paint_wet("water", 1, true);
    const uint8_t *row = pixels + 10 * SIZE;
    ck_assert_int_eq(water_color(&colors, 0) >> 24, 0);
    ck_assert_int_eq(row[0], 0);
    ck_assert_int_eq(water_color(&colors, row[SIZE / 2]) >> 24, 255);
    must(row[SIZE / 2] % WATER_TONES > 0, "no depth");
    set_climate(-20, 0.5F);
    paint_wet("water", 1, true);
    ck_assert_uint_eq(water_color(&colors, row[SIZE / 2]), 0xfff3eee4);
    make_river(5, 0, 256);
    paint_wet("water", 256, false);
    const int opacity = (int)(water_color(&colors, row[SIZE / 2]) >> 24);
    must(opacity > 70 && opacity < 100, "a faint line: %d", opacity);
    ck_assert_uint_eq(water_color(&colors, row[SIZE / 2]) & 0xffffff, colors.shallow);
    free_climate();
    /* A world without rivers, which does not serve it. */
    make_colors();
    make_plane(-200, 0, 0);
    paint("water", 1, 1);
    for (int k = 0; k < SIZE * SIZE; k++)
        ck_assert_uint_eq(water_color(&colors, pixels[k]), 0xff000000 | colors.deep);
    make_plane(1, 0, 0);
    paint("water", 1, 1);
    for (int k = 0; k < SIZE * SIZE; k++)
        ck_assert_int_eq(pixels[k], 0);
}
END_TEST

static const char *const shaded[] = {"relief", "hillshade"};
static const char *lit_layer;

/* The brightness of a plane that rises to the east and the south by this much. */
static int brightness(float base, float east, float south, float exaggeration)
{
    const int channels = (int)pixel_bytes(layers[layer_find(lit_layer)].pixel);
    int sum = 0;
    make_plane(base, east, south);
    paint(lit_layer, 1, exaggeration);
    for (int k = channels; k < SIZE * SIZE * channels; k++)
        must(pixels[k] == pixels[k - channels], "a plane is uneven");
    for (int k = 0; k < channels; k++)
        sum += pixels[k];
    return sum;
}

static const struct {
    float base, rise, exaggeration;
} slopes[] = {
    {500, 0.0625f, 13.6f}, {500, 0.03125f, 13.6f}, {500, 0.5f, 1.7f},
    {500, 4, 1.7f},        {-500, 0.5f, 3.4f},
};

/* Light comes from the north-west: ground that falls off towards it is bright. */
START_TEST(test_light)
{
    const int row = _i % ROWS(slopes);
    const float base = slopes[row].base, rise = slopes[row].rise, by = slopes[row].exaggeration;
    lit_layer = shaded[_i / ROWS(slopes)];
    make_gray_colors();
    int level = brightness(base, 0, 0, by);
    int north_west = brightness(base, rise, rise, by);
    int south_east = brightness(base, -rise, -rise, by);
    ck_assert_int_gt(north_west, level);
    ck_assert_int_lt(south_east, level);
    ck_assert_int_gt(brightness(base, rise, 0, by), brightness(base, -rise, 0, by));
    ck_assert_int_gt(brightness(base, 0, rise, by), brightness(base, 0, -rise, by));
    ck_assert_int_eq(brightness(base, rise, 0, by), brightness(base, 0, rise, by));
    /* Across the light, hillshade is even, and relief has a weak second light in the north-east. */
    int north_east = brightness(base, -rise, rise, by);
    int south_west = brightness(base, rise, -rise, by);
    ck_assert_int_ge(north_east, south_west - 1);
    ck_assert_int_le(north_east - south_west, _i < ROWS(slopes) ? level - south_east : 1);
    /* Steeper ground that faces away from the light is no brighter. */
    ck_assert_int_le(brightness(base, -2 * rise, -2 * rise, by), south_east);
}
END_TEST

/* Relief in shadow is never black, and has a shape: steeper ground is darker, even if it faces away
 * from the light, and ground to the east lighter than ground to the south. */
START_TEST(test_shadows)
{
    lit_layer = "relief";
    make_gray_colors();
    const int level = brightness(20000, 0, 0, 2);
    for (float rise = 0x1p-5f; rise < 100; rise *= 2)
        for (int way = 0; way < 25; way++) {
            const float east = (float)(way % 5 - 2) * rise, south = (float)(way / 5 - 2) * rise;
            const int found = brightness(20000, east, south, 2);
            must(found > 0.3 * level, "%g east, %g south: %d of %d", (double)east, (double)south,
                 found, level);
        }
    ck_assert_int_lt(brightness(20000, -8, -8, 2), brightness(20000, -2, -2, 2));
    ck_assert_int_gt(brightness(20000, -1, 0, 2), brightness(20000, 0, -1, 2) + level / 20);
}
END_TEST

/* Level ground is 180, the darkest 0, and ground that faces the light nearly white. */
START_TEST(test_hillshade_levels)
{
    make_colors();
    lit_layer = "hillshade";
    for (float base = -100; base <= 100; base += 12.5f)
        ck_assert_int_eq(brightness(base, 0, 0, base < 0 ? 0.001f : 10), 180);
    ck_assert_int_eq(brightness(0, -500, -500, 10), 0);
    int most = 0;
    for (float rise = 0.1f; rise < 10; rise *= 1.1f) {
        int level = brightness(0, rise, rise, 1);
        most = level > most ? level : most;
    }
    ck_assert_int_ge(most, 250);
}
END_TEST

static void make_noise(uint64_t seed, float height)
{
    for (int k = 0; k < FIELD * FIELD; k++)
        field[k] = ((float)chance_below(&seed, 20001) / 10000 - 1) * height;
}

/* Heights mirrored in the light's direction give the mirrored picture. */
START_TEST(test_hillshade_mirror)
{
    static uint8_t straight[SIZE * SIZE];
    make_colors();
    make_noise(5, 100);
    paint("hillshade", REACH, 0.03f);
    memcpy(straight, pixels, sizeof straight);
    for (int j = 0; j < FIELD; j++)
        for (int i = 0; i < j; i++) {
            float other = field[i * FIELD + j];
            field[i * FIELD + j] = field[j * FIELD + i];
            field[j * FIELD + i] = other;
        }
    paint("hillshade", REACH, 0.03f);
    int least = 255, most = 0;
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++) {
            int level = straight[j * SIZE + i];
            must(abs(pixels[i * SIZE + j] - level) <= 1, "%d, %d: %d and %d", i, j, level,
                 pixels[i * SIZE + j]);
            least = level < least ? level : least;
            most = level > most ? level : most;
        }
    ck_assert_int_lt(least, 100);
    ck_assert_int_gt(most, 230);
}
END_TEST

/* Heights are exaggerated by the given factor alone, whatever the reach. */
START_TEST(test_hillshade_exaggeration)
{
    static uint8_t small[SIZE * SIZE];
    make_colors();
    make_noise(6, 1);
    paint("hillshade", 1, 3.2f);
    memcpy(small, pixels, sizeof small);
    make_noise(6, 64);
    paint("hillshade", 1, 3.2f / 64);
    ck_assert_mem_eq(pixels, small, sizeof small);
    make_plane(0, 0.5f, -0.125f);
    paint("hillshade", 1, 1.5f);
    memcpy(small, pixels, sizeof small);
    for (int reach = 2; reach <= REACH; reach++) {
        paint("hillshade", reach, 1.5f);
        for (int k = 0; k < SIZE * SIZE; k++)
            must(abs(pixels[k] - small[k]) <= 1, "reach %d: %d and %d", reach, pixels[k], small[k]);
    }
}
END_TEST

/* It grows with the spacing, smoothly: from one zoom to the next by at most a root of 2. */
START_TEST(test_exaggerations)
{
    static const struct {
        float spacing, exaggeration;
    } rows[] = {{0x1p-10f, 2}, {1, 2.06f}, {4, 2.24f}, {64, 4.47f}, {4096, 32.1f}};
    for (int i = 0; i < ROWS(rows); i++) {
        const float found = shading_exaggeration(rows[i].spacing);
        must(fabsf(found - rows[i].exaggeration) < 0.005f * found, "%g blocks: %g",
             (double)rows[i].spacing, (double)found);
    }
    for (float spacing = 0x1p-10f; spacing < 0x1p42f; spacing *= 2) {
        const float ratio = shading_exaggeration(2 * spacing) / shading_exaggeration(spacing);
        must(ratio > 1 && ratio < 1.4143f, "%g blocks: %g", (double)spacing, (double)ratio);
    }
}
END_TEST

/* The DEM encodings, decoded as clients decode them. */

static double terrarium(const uint8_t *p)
{
    return p[0] * 256.0 + p[1] + p[2] / 256.0 - 32768;
}

static double terrain_rgb(const uint8_t *p)
{
    return -10000 + (p[0] * 65536.0 + p[1] * 256.0 + p[2]) * 0.1;
}

static const struct {
    const char *layer;
    double (*decode)(const uint8_t *pixel);
    double step;
    float lowest, highest; /* metres at 0 and at 2^24 - 1 */
    double slack;          /* for the decoder's own rounding */
} encodings[] = {
    {"terrarium", terrarium, 1 / 256.0, -32768, 32767.99609375f, 0},
    {"terrain-rgb", terrain_rgb, 0.1, -10000, 1667721.5f, 1e-9},
};

/* Paint the field, and decode every sample again. */
static void must_decode(int encoding)
{
    const double half = encodings[encoding].step / 2 + encodings[encoding].slack;
    paint(encodings[encoding].layer, 1, 1);
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++) {
            const double metres = field[(REACH + j) * FIELD + REACH + i];
            const double found = encodings[encoding].decode(pixels + (j * SIZE + i) * 3);
            must(fabs(found - metres) <= half, "%s: %.9g as %.9g", encodings[encoding].layer,
                 metres, found);
        }
}

/* Water hides its bed: rivers and lakes at their level, the sea at 0. Land is as it is. */
START_TEST(test_water_hides_its_bed)
{
    static const struct {
        float ground, water, seen;
    } samples[] = {
        {50, -32768, 50}, {47, 50, 50},  {50, 47, 50},        {-20, -32768, 0},
        {-20, -5, 0},     {-20, 12, 12}, {-32768, -32768, 0}, {32767, 32767.5f, 32767.5f},
        {0, -32768, 0},   {-0.0f, 0, 0}, {0.25f, -1, 0.25f},
    };
    for (int k = 0; k < FIELD * FIELD; k++) {
        field[k] = samples[k % ROWS(samples)].ground;
        surface[k] = samples[k % ROWS(samples)].water;
    }
    paint_wet("terrarium-water", 1, false);
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++) {
            const int k = ((REACH + j) * FIELD + REACH + i) % ROWS(samples);
            const double found = terrarium(pixels + (j * SIZE + i) * 3);
            must(found == (double)samples[k].seen, "row %d: %g", k, found);
        }
    /* A world without rivers, which does not serve it. */
    make_plane(-3, 0, 0);
    paint("terrarium-water", 1, 1);
    ck_assert_double_eq(terrarium(pixels), 0);
}
END_TEST

/* Anywhere in the range, close to 0, and at the ends. */
START_TEST(test_encodings)
{
    const float lowest = encodings[_i].lowest, highest = encodings[_i].highest;
    const struct layer *layer = &layers[layer_find(encodings[_i].layer)];
    uint64_t state = 23;
    ck_assert_float_eq(layer->lowest, lowest);
    ck_assert_float_eq(layer->highest, highest);
    for (int k = 0; k < FIELD * FIELD; k++)
        field[k] = (float)((double)chance(&state) * 0x1p-64 * ((double)highest - lowest) + lowest);
    must_decode(_i);
    make_noise(24, 10);
    must_decode(_i);
    make_plane(lowest, 0, 0);
    must_decode(_i);
    ck_assert_mem_eq(pixels, ((uint8_t[]){0, 0, 0}), 3);
    make_plane(highest, 0, 0);
    must_decode(_i);
    ck_assert_mem_eq(pixels, ((uint8_t[]){255, 255, 255}), 3);
    for (int k = 0; k < FIELD * FIELD; k++) {
        const float last = k ? field[k - 1] : highest;
        field[k] = k % 64 ? nextafterf(last, 0) : k % 128 ? lowest : highest;
    }
    must_decode(_i);
}
END_TEST

/* Half way between two steps, and one float to either side: exact halves go up. */
START_TEST(test_encoding_halves)
{
    const double step = encodings[_i].step;
    for (int k = 0; k < FIELD * FIELD; k++) {
        const float half = (float)((k / 3 - FIELD * FIELD / 6 + 0.5) * step);
        field[k] = k % 3 == 0 ? half : nextafterf(half, k % 3 == 1 ? -1e9f : 1e9f);
    }
    must_decode(_i);
    for (int sign = -1; sign <= 1; sign += 2) {
        const float half = (float)sign * (step < 0.01 ? 0x1p-9f : 0.25f); /* 0.5 and 2.5 steps */
        make_plane(half, 0, 0);
        paint(encodings[_i].layer, 1, 1);
        const double up = encodings[_i].decode(pixels) - (double)half;
        must(fabs(up - step / 2) < 1e-9, "%g: %g above", (double)half, up);
    }
}
END_TEST

/* Red east, green north, blue up: within half a level of the normal between the samples REACH to
 * either side. */
static void must_be_normals(int reach, double spacing)
{
    struct heights heights = field_heights(0, 0, SIZE, reach, 1);
    heights.spacing = (float)spacing;
    layers[layer_find("normal")].paint(&heights, &colors, pixels);
    for (int j = 0; j < SIZE; j++)
        for (int i = 0; i < SIZE; i++) {
            const float *at = field + (REACH + j) * FIELD + REACH + i;
            const uint8_t *p = pixels + (j * SIZE + i) * 3;
            const double east = ((double)at[reach] - at[-reach]) / (2 * reach * spacing);
            const double north =
                ((double)at[-reach * FIELD] - at[reach * FIELD]) / (2 * reach * spacing);
            const double length = sqrt(1 + east * east + north * north);
            const double normal[] = {-east / length, -north / length, 1 / length};
            double square = 0;
            for (int c = 0; c < 3; c++) {
                const double component = p[c] / 127.5 - 1;
                must(fabs(p[c] - (normal[c] + 1) * 127.5) <= 0.5001,
                     "%d, %d: slopes %g, %g: %d %d %d", i, j, east, north, p[0], p[1], p[2]);
                square += component * component;
            }
            must(fabs(sqrt(square) - 1) < 0.007, "%d %d %d: length %g", p[0], p[1], p[2],
                 sqrt(square));
            must(p[2] >= 127, "%d: into the ground", p[2]);
        }
}

START_TEST(test_normal)
{
    static const double spacings[] = {1, 0x1p-10, 0.5, 16, 0x1p42};
    for (int i = 0; i < ROWS(spacings); i++)
        for (int reach = 1; reach <= REACH; reach++) {
            make_noise(7 + (uint64_t)i, (float)spacings[i] * 3);
            must_be_normals(reach, spacings[i]);
        }
    make_noise(8, 1e6f); /* the highest cliffs */
    must_be_normals(1, 0x1p-10);
}
END_TEST

static const struct {
    float east, south; /* metres a block */
    uint8_t pixel[3];
} planes[] = {
    {0, 0, {128, 128, 255}},    {1, 0, {37, 128, 218}},   {-1, 0, {218, 128, 218}},
    {0, 1, {128, 218, 218}},    {0, -1, {128, 37, 218}},  {0.75f, 0, {51, 128, 230}},
    {2, 2, {42, 213, 170}},     {1e6f, 0, {0, 128, 128}}, {-1e6f, 0, {255, 128, 128}},
    {0, 1e6f, {128, 255, 128}},
};

/* Ground that rises to the east faces west. */
START_TEST(test_normal_planes)
{
    make_plane(0, planes[_i].east, planes[_i].south);
    for (int reach = 1; reach <= REACH; reach++) {
        paint("normal", reach, 1);
        for (int k = 0; k < SIZE * SIZE * 3; k++)
            must(pixels[k] == planes[_i].pixel[k % 3], "reach %d: %d %d %d", reach,
                 pixels[k - k % 3], pixels[k - k % 3 + 1], pixels[k - k % 3 + 2]);
    }
}
END_TEST

/* Channel C of the color at DEGREES, linear between COUNT stops. */
static double scale_color(const struct scale_stop *stop, int count, double degrees, int c)
{
    int i = 0;
    while (i < count - 2 && (double)stop[i + 1].degrees <= degrees)
        i++;
    const struct scale_stop *a = &stop[i], *b = &stop[i + 1];
    const double share = (degrees - (double)a->degrees) / (double)(b->degrees - a->degrees);
    return a->color[c] + (b->color[c] - a->color[c]) * share;
}

static double slope_color(double degrees, int c)
{
    return scale_color(slope_stops, SLOPE_STOPS, degrees, c);
}

/* The color at the true angle, whichever way the ground rises, however far apart the samples are
 * and however much shading exaggerates. */
START_TEST(test_slope)
{
    for (int reach = 1; reach <= REACH; reach++)
        for (double degrees = 0; degrees < 89.9; degrees += 0.7) {
            const double spacing = ldexp(1, (int)degrees % 20 - 10);
            const double rise = tan(degrees * M_PI / 180) * spacing, way = degrees * 3;
            make_plane(0, (float)(rise * cos(way)), (float)(rise * sin(way)));
            struct heights heights = field_heights(0, 0, SIZE, reach, 30);
            heights.spacing = (float)spacing;
            layer_called("slope")->paint(&heights, &colors, pixels);
            for (int k = 0; k < SIZE * SIZE * 3; k++)
                must(fabs(pixels[k] - slope_color(degrees, k % 3)) <= 0.6, "%g degrees: %d, not %g",
                     degrees, pixels[k], slope_color(degrees, k % 3));
        }
}
END_TEST

/* Level ground is white, walls are black, and each stop has its color. */
START_TEST(test_slope_stops)
{
    ck_assert_float_eq(slope_stops[0].degrees, 0);
    ck_assert_float_eq(slope_stops[SLOPE_STOPS - 1].degrees, 90);
    for (int i = 0; i < SLOPE_STOPS; i++) {
        const double degrees = (double)slope_stops[i].degrees;
        make_plane(0, degrees < 90 ? (float)tan(degrees * M_PI / 180) : 1e9f, 0);
        paint("slope", 1, 1);
        for (int c = 0; c < 3; c++)
            must(pixels[c] == slope_stops[i].color[c], "%g degrees: %d", degrees, pixels[c]);
    }
}
END_TEST

/* The color of the direction that the ground falls to, clockwise from north, however steep it is.
 */
START_TEST(test_aspect)
{
    for (int c = 0; c < 3; c++)
        ck_assert_int_eq(aspect_stops[0].color[c], aspect_stops[ASPECT_STOPS - 1].color[c]);
    for (int reach = 1; reach <= REACH; reach++)
        for (double degrees = 0; degrees <= 360; degrees += 2.5) {
            const double rise = ldexp(1, (int)degrees % 9 - 4), way = degrees * M_PI / 180;
            make_plane(0, (float)(-rise * sin(way)), (float)(rise * cos(way)));
            paint("aspect", reach, 30);
            for (int k = 0; k < SIZE * SIZE * 3; k++) {
                const double color = scale_color(aspect_stops, ASPECT_STOPS, degrees, k % 3);
                must(fabs(pixels[k] - color) <= 0.6, "%g degrees: %d, not %g", degrees, pixels[k],
                     color);
            }
        }
}
END_TEST

/* Level ground is gray, and what is nearly level not far from it. */
START_TEST(test_aspect_of_level_ground)
{
    static const struct {
        float rise, share; /* of the direction's color; a slope of 1 is drawn as 2.06 here */
    } rows[] = {{0, 0}, {0.006F, 0.25F}, {0.0121F, 0.5F}, {0.0182F, 0.75F}, {0.03F, 1}};
    for (int i = 0; i < ROWS(rows); i++) {
        make_plane(0, 0, rows[i].rise); /* falls to the north */
        paint("aspect", 1, 30);
        for (int c = 0; c < 3; c++)
            must(abs(pixels[c] -
                     (int)(180 + ((float)aspect_stops[0].color[c] - 180) * rows[i].share)) <= 1,
                 "row %d: %d", i, pixels[c]);
    }
}
END_TEST

/* A range that is too narrow to divide by still gives a picture. */
START_TEST(test_narrow_range)
{
    static const float ranges[] = {0, 0x1p-149f, 1e-40f, 1e-38f, 1e-34f, 1e-30f, 1e-29f};
    static struct world_config world;
    memcpy(world.palette, stops, sizeof stops);
    world.stops = ROWS(stops);
    for (int i = 0; i < ROWS(ranges); i++) {
        color_table_make(&colors, &world, 0, ranges[i]);
        for (int k = 0; k < FIELD * FIELD; k++)
            field[k] = k * 7 % 3 ? ranges[i] : k * 7 % 2 ? 0 : ranges[i] / 2;
        for (const struct layer *layer = layers; layer->name; layer++)
            paint(layer->name, 1, ranges[i]);
        paint("relief", 1, 1);
        for (int c = 0; c < 3; c++)
            ck_assert_int_le(abs(pixels[c] - (int[]){0xe0, 0xd0, 0xa0}[c]), 1);
    }
}
END_TEST

/* Stretches of rough ground, of sea and of plains, longer than what a painter takes at once. */
static float stretch_at(int k, uint64_t *state)
{
    const float chance = (float)chance_below(state, 200001) / 1000 - 100;
    const int stretch = k / 201 % 3;
    return stretch == 0 ? chance : stretch == 1 ? chance / 100 - 20 : chance / 100 + 20;
}

/*
 * Tiles of both sizes, with the shortest and the longest reach: packed pixels, each the same as if
 * painted alone; nothing beyond the border and the tile is touched.
 */
START_TEST(test_whole_tiles)
{
    static const struct {
        int size, reach;
    } tiles[] = {
        {256, 1}, {256, LAYER_MAX_REACH}, {LAYER_MAX_SIZE, 1}, {LAYER_MAX_SIZE, LAYER_MAX_REACH}};
    const int size = tiles[_i].size;
    make_climate();
    for (const struct layer *layer = layers; layer->name; layer++) {
        const int reach = layer->slopes ? tiles[_i].reach : 0, stride = size + 2 * reach;
        const size_t bytes = pixel_bytes(layer->pixel);
        struct guarded in, out;
        guarded_new(&in, (size_t)(stride * stride) * sizeof(float));
        guarded_new(&out, (size_t)(size * size) * bytes);
        float *ground = guarded_end(&in, (size_t)(stride * stride) * sizeof(float));
        uint8_t *picture = guarded_end(&out, (size_t)(size * size) * bytes);
        uint64_t state = 29;
        for (int k = 0; k < stride * stride; k++)
            ground[k] = stretch_at(k, &state);
        struct heights heights = {.first = ground + reach * stride + reach,
                                  .temperature = ground + reach * stride + reach,
                                  .humidity = ground + reach * stride + reach,
                                  .stride = stride,
                                  .size = size,
                                  .rows = size,
                                  .reach = reach,
                                  .spacing = 0.5f,
                                  .exaggeration = 0.03f,
                                  .range = {colors.min, colors.max}};
        layer->paint(&heights, &colors, picture);
        heights.size = heights.rows = 1;
        for (int n = 0; n < 2000; n++) {
            const int last = size - 1;
            const int i = n < 4 ? n % 2 * last : chance_below(&state, size);
            const int j = n < 4 ? n / 2 * last : chance_below(&state, size);
            heights.first = ground + (reach + j) * stride + reach + i;
            heights.temperature = heights.humidity = heights.first;
            layer->paint(&heights, &colors, pixels);
            must(memcmp(picture + (size_t)(j * size + i) * bytes, pixels, bytes) == 0,
                 "%s: pixel %d, %d", layer->name, i, j);
        }
        guarded_free(&in);
        guarded_free(&out);
    }
    free_climate();
}
END_TEST

/* A picture painted at once equals its quarters, and a shifted part of it. */
START_TEST(test_pieces)
{
    uint64_t state = 19;
    static uint8_t whole[SIZE * SIZE * 3];
    if (_i == 0)
        make_colors();
    else
        make_climate();
    for (int k = 0; k < FIELD * FIELD; k++) {
        temperature[k] = (float)chance_below(&state, 70000) / 1000 - 30;
        humidity[k] = (float)chance_below(&state, 1000) / 1000;
        field[k] = (float)chance_below(&state, 200000) / 1000 - 100;
    }
    for (const struct layer *layer = layers; layer->name; layer++) {
        size_t bytes = pixel_bytes(layer->pixel);
        for (int reach = 1; reach <= REACH; reach++) {
            paint(layer->name, reach, 0.04f);
            memcpy(whole, pixels, SIZE * SIZE * bytes);
            for (int piece = 0; piece < 6; piece++) {
                int size = piece < 4 ? SIZE / 2 : 17;
                int left = piece < 4 ? piece % 2 * size : 5, top = piece < 4 ? piece / 2 * size : 9;
                struct heights heights = field_heights(left, top, size, reach, 0.04f);
                layer->paint(&heights, &colors, pixels);
                for (int j = 0; j < size; j++)
                    must(memcmp(pixels + (size_t)(j * size) * bytes,
                                whole + (size_t)((top + j) * SIZE + left) * bytes,
                                (size_t)size * bytes) == 0,
                         "%s: row %d of piece %d", layer->name, j, piece);
            }
        }
    }
    free_climate();
}
END_TEST

/* The nearest integers over a range; values beyond it, and NAN, are clamped. */
START_TEST(test_samples)
{
    static const struct {
        struct value_range range;
        float value;
        uint16_t words;
        uint8_t bytes;
    } rows[] = {
        {{-50, 250}, -50, 0, 0},           {{-50, 250}, 250, 65535, 255},
        {{-50, 250}, 100, 32768, 128},     {{-50, 250}, -50.01F, 0, 0},
        {{-50, 250}, 250.01F, 65535, 255}, {{-50, 250}, -3e38F, 0, 0},
        {{-50, 250}, 3e38F, 65535, 255},   {{-50, 250}, INFINITY, 65535, 255},
        {{-50, 250}, -INFINITY, 0, 0},     {{-50, 250}, NAN, 0, 0},
        {{0, 65535}, 1.4F, 1, 0},          {{0, 65535}, 1.5F, 2, 0},
        {{0, 1e-30F}, 1e-30F, 65535, 255}, {{-1e38F, 1e38F}, 0, 32768, 128},
    };
    uint16_t words[40];
    uint8_t bytes[40];
    for (int i = 0; i < ROWS(rows); i++) {
        float values[39];
        for (int k = 0; k < 39; k++)
            values[k] = rows[i].value;
        words[39] = bytes[39] = 77;
        samples_16(values, 39, rows[i].range, words);
        samples_8(values, 39, rows[i].range, bytes);
        for (int k = 0; k < 39; k++)
            must(words[k] == rows[i].words && bytes[k] == rows[i].bytes, "row %d: %d, %d", i,
                 words[k], bytes[k]);
        ck_assert_int_eq(words[39], 77);
        ck_assert_int_eq(bytes[39], 77);
    }
}
END_TEST

/* The tests of each layer's pixels, by its name. */
static const struct painter_test {
    const char *layer;
    const TTest *test;
    int rows;
} * painter_tests;
static int painter_test_count;

static bool is_tested(const char *layer)
{
    for (int i = 0; i < painter_test_count; i++)
        if (strcmp(painter_tests[i].layer, layer) == 0)
            return true;
    return false;
}

START_TEST(test_table)
{
    int count = 0;
    for (; layers[count].name; count++) {
        char name[32];
        snprintf(name, sizeof name, "%s%s", layers[count].name, layers[count].fields ? ".a" : "");
        ck_assert_int_eq(layer_find(name), count);
        ck_assert(layers[count].formats & 1 << FORMAT_PNG);
        ck_assert_uint_eq(layers[count].formats >> FORMATS, 0);
        ck_assert_ptr_nonnull(layers[count].paint);
        ck_assert_msg((layers[count].pixel == PIXEL_INDEX8) == (layers[count].palette != NULL),
                      "%s: pixels of PIXEL_INDEX8 need a .palette", layers[count].name);
        ck_assert_msg(layers[count].paint == paint_height || !(layers[count].formats >> FORMAT_R16),
                      "%s: r16, f32 and u8 have the field's values, not the painter's",
                      layers[count].name);
        ck_assert_msg(is_tested(layers[count].name), "%s: add a test of its pixels to main",
                      layers[count].name);
    }
    ck_assert_int_ge(count, 3);
    ck_assert_int_eq(layer_find(""), -1);
    ck_assert_int_eq(layer_find("field"), -1);
    ck_assert_int_eq(layer_find("field."), -1);
    ck_assert_int_eq(layer_find("relief.a"), -1);
    ck_assert_int_eq(layer_find("Relief"), -1);
    ck_assert_int_eq(layer_find("relief "), -1);
    for (enum format format = 0; format < FORMATS; format++) {
        ck_assert_int_eq(format_find(format_extension(format)), (int)format);
        ck_assert_ptr_nonnull(strchr(format_type(format), '/'));
    }
    ck_assert_str_eq(format_extension(FORMAT_PNG), "png");
    ck_assert_str_eq(format_extension(FORMAT_R16), "r16");
    ck_assert_str_eq(format_extension(FORMAT_F32), "f32");
    ck_assert_str_eq(format_extension(FORMAT_U8), "u8");
    ck_assert_uint_eq(format_sample_bytes(FORMAT_F32), 4);
    ck_assert_uint_eq(format_sample_bytes(FORMAT_R16), 2);
    ck_assert_uint_eq(format_sample_bytes(FORMAT_U8), 1);
    ck_assert_str_eq(format_type(FORMAT_PNG), "image/png");
    ck_assert_int_eq(format_find(""), -1);
    ck_assert_int_eq(format_find("PNG"), -1);
    ck_assert_int_eq(format_find("pn"), -1);
    ck_assert_uint_eq(pixel_bytes(PIXEL_GRAY8), 1);
    ck_assert_uint_eq(pixel_bytes(PIXEL_GRAY16), 2);
    ck_assert_uint_eq(pixel_bytes(PIXEL_RGB8), 3);
    ck_assert_uint_eq(pixel_bytes(PIXEL_INDEX8), 1);
}
END_TEST

int main(void)
{
    const struct painter_test tests[] = {
        {"gray", test_gray_and_height, 1},
        {"biome", test_ids, 1},
        {"height", test_gray_and_height, 1},
        {"field", test_gray_and_height, 1},
        {"relief", test_level_ground, 1},
        {"relief", test_coast, 1},
        {"relief", test_level_ends, 1},
        {"relief", test_climates, 1},
        {"relief", test_climate_is_continuous, ROWS(paths)},
        {"relief", test_rivers, ROWS(lines)},
        {"relief", test_rivers_do_not_flicker, 1},
        {"relief", test_lakes, 1},
        {"relief", test_pieces_of_water, 1},
        {"water", test_overlay, 1},
        {"relief", test_light, ROWS(slopes) * ROWS(shaded)},
        {"relief", test_shadows, 1},
        {"hillshade", test_hillshade_levels, 1},
        {"hillshade", test_hillshade_mirror, 1},
        {"hillshade", test_hillshade_exaggeration, 1},
        {"terrarium", test_encodings, ROWS(encodings)},
        {"terrain-rgb", test_encoding_halves, ROWS(encodings)},
        {"terrarium-water", test_water_hides_its_bed, 1},
        {"normal", test_normal, 1},
        {"normal", test_normal_planes, ROWS(planes)},
        {"slope", test_slope, 1},
        {"slope", test_slope_stops, 1},
        {"aspect", test_aspect, 1},
        {"aspect", test_aspect_of_level_ground, 1},
    };
    Suite *suite = suite_create("layers");
    TCase *tcase = suite_case(suite, "paint");
    painter_tests = tests;
    painter_test_count = ROWS(tests);
    tcase_add_test(tcase, test_table);
    tcase_add_test(tcase, test_canopy);
    tcase_add_test(tcase, test_canopy_is_no_rock);
    tcase_add_test(tcase, test_samples);
    tcase_add_test(tcase, test_exaggerations);
    for (int i = 0; i < ROWS(tests); i++)
        tcase_add_loop_test(tcase, tests[i].test, 0, tests[i].rows);
    tcase_add_test(tcase, test_narrow_range);
    tcase_add_loop_test(tcase, test_whole_tiles, 0, 4);
    tcase_add_loop_test(tcase, test_pieces, 0, 2);
    return suite_run(suite);
}
