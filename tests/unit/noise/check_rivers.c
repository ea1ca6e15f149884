/* How far places are from water, and ground that follows the beds. */
#include "noise/water/rivers.h"

#include <math.h>

#include "tests/unit/support/draws.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

/* Hills on a slope that falls to the south, into the sea. */
static int ground(void *context, const struct farlands_grid *grid, float *out)
{
    (void)context;
    for (int j = 0; j < grid->height; j++)
        for (int i = 0; i < grid->width; i++) {
            const double x = farlands_blocks(grid->x + i * grid->step);
            const double y = farlands_blocks(grid->y + j * grid->step);
            *out++ = (float)(-y / 400 + 60 * sin(x / 2900) + 45 * cos(y / 2300 + x / 5100));
        }
    return 0;
}

static const struct rivers_params params = {
    .spacing = BLOCKS(32768),
    .levels = 4,
    .seed = 42,
    .from = 3,
    .width = 0.7,
    .widening = 1.85,
    .depth = 0.3,
    .deepening = 1.45,
    .slope = 0.45,
    .meander = 0.5,
    .lake = 80,
};

static struct rivers *rivers_of(const struct rivers_params *p)
{
    struct rivers *rivers;
    ck_assert_int_eq(rivers_new(&rivers, p, kernel_choose(), ground, NULL), 0);
    return rivers;
}

enum { WIDE = KERNEL_CHUNK, HIGH = 200, VALUES = 5 };

/* Metres by which the ground is higher than where the rivers flow. */
static float raised;

/* Values of a chunk, the ground being BEFORE. */
struct values {
    float before[HIGH][WIDE];
    float bank[HIGH][WIDE], water[HIGH][WIDE], order[HIGH][WIDE], channel[HIGH][WIDE],
        carved[HIGH][WIDE];
};

static struct chunk chunk_of(double x, double y, double step, int width, int height)
{
    return (struct chunk){
        {BLOCKS(x), BLOCKS(step), NULL}, {BLOCKS(y), BLOCKS(step), NULL}, width, height};
}

static void evaluate_chunk(struct rivers *rivers, const struct chunk *chunk, int64_t band_limit,
                           struct values *v)
{
    const struct farlands_grid row = {
        .x = chunk->x.first, .step = chunk->x.step, .width = chunk->width, .height = 1};
    for (int j = 0; j < chunk->height; j++) {
        struct farlands_grid grid = row;
        grid.y = chunk->y.first + j * chunk->y.step;
        ground(NULL, &grid, v->before[j]);
        for (int i = 0; i < chunk->width; i++)
            v->before[j][i] += raised;
    }
    ck_assert_int_eq(rivers_find_near(rivers, chunk, band_limit), 0);
    ck_assert_int_eq(rivers_find_valleys(rivers, chunk, band_limit), 0);
    const int rows = chunk->height, width = chunk->width;
    const struct rows in = {v->before[0], WIDE}, carved = {v->carved[0], WIDE};
    rivers_bank(rivers, 0, rows, width, (struct rows){v->bank[0], WIDE});
    rivers_order(rivers, 0, rows, width, (struct rows){v->order[0], WIDE});
    rivers_carve(rivers, 0, rows, width, in, carved);
    rivers_channel(rivers, 0, rows, width, carved, (struct rows){v->channel[0], WIDE});
    rivers_water(rivers, 0, rows, width, (struct rows){v->channel[0], WIDE},
                 (struct rows){v->water[0], WIDE});
}

static struct values all, part;

/* Water lies in its bed, and the ground beside it is higher. */
START_TEST(water_lies_in_beds)
{
    struct rivers *rivers = rivers_of(&params);
    long wet = 0, beside = 0, still = 0; /* still: courses within lakes */
    for (int k = 0; k < 12; k++) {
        const struct chunk chunk = chunk_of(k * 7000, -60000 + 4000 * k, 12, WIDE, HIGH);
        evaluate_chunk(rivers, &chunk, 0, &all);
        for (int j = 0; j < HIGH; j++)
            for (int i = 0; i < WIDE; i++) {
                const double bank = (double)all.bank[j][i], level = (double)all.water[j][i];
                const double bed = (double)all.channel[j][i];
                must(bank <= RIVERS_NEAR && bank >= -rivers_widest(&params) / 2,
                     "bank %g; expected %g to %g", bank, -rivers_widest(&params) / 2,
                     (double)RIVERS_NEAR);
                must(bank >= 0 || level > (double)RIVERS_DRY, "bank %g, level %g", bank, level);
                must(level == (double)RIVERS_DRY || bed < level, "bed %g, level %g", bed, level);
                const double order = (double)all.order[j][i];
                must(bank < 0 || order == 0, "bank %g, order %g", bank, order);
                if (bank < 0) {
                    must(bed <= level && bed >= level - rivers_deepest(&params), "bed %g, level %g",
                         bed, level);
                    must(order == 0 || (order >= params.from && order <= RIVERS_MAX_ORDER),
                         "order %g", order);
                    still += order == 0;
                    must(level >= 0, "level %g; expected at least 0", level);
                    wet++;
                }
                if (bank == RIVERS_NEAR)
                    must(all.channel[j][i] == all.carved[j][i], "far from water");
                beside += bank >= 0 && bank < 10;
            }
    }
    must(wet > 500 && beside > 500 && still < wet / 4, "%ld wet, %ld beside, %ld still", wet,
         beside, still);
    rivers_free(rivers);
}
END_TEST

/* From the water's edge on the ground is above it, as far as the next samples. */
START_TEST(banks_are_above_the_water)
{
    struct rivers *rivers = rivers_of(&params);
    long edges = 0;
    for (int k = 0; k < 30; k++) {
        const struct chunk chunk = chunk_of(k * 1900, -30000 - 3000 * k, 1, WIDE, HIGH);
        evaluate_chunk(rivers, &chunk, 0, &all);
        for (int j = 0; j < HIGH; j++)
            for (int i = 0; i + 1 < WIDE; i++) {
                const bool left = all.water[j][i] > RIVERS_DRY,
                           right = all.water[j][i + 1] > RIVERS_DRY;
                if (left == right)
                    continue;
                const float level = all.water[j][left ? i : i + 1];
                const float bank = all.channel[j][left ? i + 1 : i];
                /* Where two lakes are close, water slopes a little. */
                must(bank > level - 0.02f, "bank %g, water %g", (double)bank, (double)level);
                edges++;
            }
    }
    must(edges > 100, "%ld edges; expected more than 100", edges);
    rivers_free(rivers);
}
END_TEST

static void must_be_same(const char *name, float a, float b, int i, int j)
{
    must(float_bits(a) == float_bits(b), "%s of (%d, %d): %.9g, not %.9g", name, i, j, (double)a,
         (double)b);
}

/* Any part of a chunk, down to a sample, alone or not, has the same bits; under mountains, too,
 * which valleys cut as far as they reach. */
START_TEST(samples_do_not_depend_on_their_chunk)
{
    static const double steps[] = {1, 12, 40, 700, 9000};
    struct draws draws = {8, 0};
    const double step = steps[_i];
    const int wide = step > 100 ? 6 : WIDE, high = step > 100 ? 5 : HIGH;
    struct rivers *rivers = rivers_of(&params);
    for (int k = 0; k < 4; k++) {
        const double x = (double)draw_between(&draws, -90000, 90000),
                     y = (double)draw_between(&draws, -90000, 0);
        const int64_t band_limit = k % 2 ? BLOCKS(step) : 0;
        const struct chunk chunk = chunk_of(x, y, step, wide, high);
        raised = k < 2 ? 0 : 4000;
        evaluate_chunk(rivers, &chunk, band_limit, &all);
        for (int n = 0; n < 20; n++) {
            const int i = (int)draw_between(&draws, 0, wide - 1),
                      j = (int)draw_between(&draws, 0, high - 1);
            const int w = (int)draw_between(&draws, 1, n % 3 ? 2 : wide - i),
                      h = (int)draw_between(&draws, 1, n % 3 ? 2 : high - j);
            const struct chunk piece =
                chunk_of(x + i * step, y + j * step, step, i + w > wide ? wide - i : w,
                         j + h > high ? high - j : h);
            struct rivers *own = n % 2 ? rivers_of(&params) : rivers;
            evaluate_chunk(own, &piece, band_limit, &part);
            for (int r = 0; r < piece.height; r++)
                for (int c = 0; c < piece.width; c++) {
                    must_be_same("bank", part.bank[r][c], all.bank[j + r][i + c], c, r);
                    must_be_same("water", part.water[r][c], all.water[j + r][i + c], c, r);
                    must_be_same("order", part.order[r][c], all.order[j + r][i + c], c, r);
                    must_be_same("carved", part.carved[r][c], all.carved[j + r][i + c], c, r);
                    must_be_same("channel", part.channel[r][c], all.channel[j + r][i + c], c, r);
                }
            if (own != rivers)
                rivers_free(own);
        }
    }
    rivers_free(rivers);
}
END_TEST

static const struct {
    int64_t spacing;
    int levels;
    const char *key;
} refused[] = {
    {BLOCKS(32768), 1, "levels"},   {BLOCKS(32768), 6, "levels"}, {BLOCKS(30000), 4, "spacing"},
    {BLOCKS(524288), 4, "spacing"}, {BLOCKS(2048), 4, "spacing"}, {0, 4, "spacing"},
};

START_TEST(refuses_shapes)
{
    struct rivers_params p = params;
    const char *key = "";
    ck_assert_ptr_null(rivers_fault(&p, &key));
    p.spacing = refused[_i].spacing;
    p.levels = refused[_i].levels;
    ck_assert_ptr_nonnull(rivers_fault(&p, &key));
    ck_assert_str_eq(key, refused[_i].key);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rivers");
    TCase *water = suite_case(suite, "water"), *samples = suite_case(suite, "samples");
    tcase_add_test(water, water_lies_in_beds);
    tcase_add_test(water, banks_are_above_the_water);
    tcase_add_loop_test(samples, samples_do_not_depend_on_their_chunk, 0, 5);
    tcase_add_loop_test(samples, refuses_shapes, 0, LENGTH(refused));
    return suite_run(suite);
}
