/* The values of random graphs are those of the formulas in operations.def: close to a plain
 * evaluation in double. */
#include <check.h>
#include <errno.h>

#include "noise/exact/lattice.h"
#include "noise/graph/graph_check.h"
#include "tests/unit/support/graph_values.h"

static struct farlands_scratch *scratch;

static double value_at(const struct program *program, int operation, int64_t x, int64_t y)
{
    const struct farlands_grid grid = {x, y, 1, 1, 1, false};
    float value;
    const struct output output = {operation, &value};
    ck_assert_int_eq(evaluate(program, kernel_choose(), scratch, &grid, &output, 1, 1), 0);
    return (double)value;
}

/* --- A plain evaluation --- */

/* A value, and how far float may be off. */
struct estimate {
    double value, error;
};

static double plain_wave(const struct operation *o, int64_t at)
{
    const int64_t wavelength = lattice_spacing(o);
    return sin(2 * M_PI * (double)(at % wavelength) / (double)wavelength);
}

static struct estimate plain_at(const struct program *program, int operation, int64_t x, int64_t y,
                                int64_t direct_below);

static double smoothstep(double t)
{
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

static double smooth_min(double a, double b, double p)
{
    const double h = fmax(1 - fabs(a - b) / p, 0);
    return fmin(a, b) - h * h * p / 4;
}

/* The four weights of a uniform cubic B-spline at T. */
static void spline_weights(double t, double weight[4])
{
    weight[0] = (1 - t) * (1 - t) * (1 - t) / 6;
    weight[1] = (3 * t * t * t - 6 * t * t + 4) / 6;
    weight[2] = (-3 * t * t * t + 3 * t * t + 3 * t + 1) / 6;
    weight[3] = t * t * t / 6;
}

/* Their derivatives. */
static void slope_weights(double t, double weight[4])
{
    weight[0] = -(1 - t) * (1 - t) / 2;
    weight[1] = (9 * t * t - 12 * t) / 6;
    weight[2] = (-9 * t * t + 6 * t + 3) / 6;
    weight[3] = t * t / 2;
}

/* The value of lattice O, or its slope. */
static struct estimate plain_lattice(const struct program *program, const struct operation *o,
                                     enum graph_kind kind, int64_t x, int64_t y)
{
    const int64_t spacing = lattice_spacing(o);
    const double blocks = (double)spacing / FARLANDS_UNIT;
    const double per_block = kind == GRAPH_LATTICE ? 1 : 1 / blocks;
    const struct lattice_place px = lattice_place(x, spacing), py = lattice_place(y, spacing);
    double wx[4], wy[4];
    struct estimate sum = {0, 0};
    (kind == GRAPH_SLOPE_X ? slope_weights : spline_weights)((double)px.rest / (double)spacing, wx);
    (kind == GRAPH_SLOPE_Y ? slope_weights : spline_weights)((double)py.rest / (double)spacing, wy);
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            const struct estimate node = plain_at(program, o->input[0], (px.cell + i - 1) * spacing,
                                                  (py.cell + j - 1) * spacing, spacing);
            sum.value += wx[i] * wy[j] * node.value * per_block;
            sum.error = fmax(sum.error, node.error);
        }
    sum.error += 1e-6 * fmax(fabs((double)o->low), fabs((double)o->high));
    sum.error *= per_block;
    return sum;
}

/* The noise itself comes from the kernel, which check_noise_reference compares with a plain one: as
 * a program of its own, moved by constants. */
static struct estimate plain_noise(const struct operation *o, int64_t x, int64_t y, double dx,
                                   double dy)
{
    const struct operation constant = {.kind = GRAPH_CONSTANT, .river_source = -1};
    struct operation operations[3] = {constant, constant, *o};
    struct program program = {.id = lattice_mix((uint64_t)(uintptr_t)o ^ (uint64_t)x),
                              .count = 3,
                              .operation = operations};
    const struct farlands_grid grid = {x, y, 1, 1, 1, false};
    float value;
    const struct output output = {2, &value};
    operations[0].number[0] = (float)dx;
    operations[1].number[0] = (float)dy;
    operations[2].input[0] = 0;
    operations[2].input[1] = 1;
    program.id = lattice_mix(program.id ^ (uint64_t)y);
    program.id ^= float_bits((float)dx) * UINT64_C(0x9e3779b97f4a7c15) ^ float_bits((float)dy);
    ck_assert_int_eq(evaluate(&program, kernel_choose(), scratch, &grid, &output, 1, 1), 0);
    return (struct estimate){(double)value, 0};
}

/* Operations that are steep where their inputs are uncertain: nothing is claimed. */
static struct estimate unknown(double value)
{
    return (struct estimate){value, INFINITY};
}

/* The least or the greatest square of the distance of what IN may be from the box of BIOME. */
static double plain_square(const struct biome *biome, const struct estimate *in, bool greatest)
{
    static const double scales[BIOME_AXES] = {10, 0.2, 200, 0.5};
    double sum = 0;
    for (int k = 0; k < biome->limits; k++) {
        const struct biome_limit *limit = &biome->limit[k];
        const struct estimate x = in[limit->axis];
        const double out = fmax((double)limit->from - x.value, x.value - (double)limit->to);
        const double distance =
            fmax(out + (greatest ? x.error : -x.error), 0) / scales[limit->axis];
        sum += distance * distance;
    }
    return sum * (greatest ? 1 + 1e-5 : 1 - 1e-5);
}

/* The id, if it is certain: a row is nearer than those before it, and no less near than others. */
static struct estimate plain_biome(const struct biomes *biomes, const struct estimate *in)
{
    for (int i = 0; i < biomes->count; i++) {
        const double most = plain_square(&biomes->biome[i], in, true);
        bool nearest = true;
        for (int k = 0; k < biomes->count && nearest; k++) {
            const double least = plain_square(&biomes->biome[k], in, false);
            nearest = k == i || least > most || (k > i && least == most);
        }
        if (nearest)
            return (struct estimate){(double)biomes->biome[i].id, 0};
    }
    return unknown(0);
}

static struct estimate plain_at(const struct program *program, int operation, int64_t x, int64_t y,
                                int64_t direct_below)
{
    const struct operation *o = &program->operation[operation];
    const double p = (double)o->number[0], q = (double)o->number[1];
    struct estimate in[GRAPH_MAX_INPUTS] = {{0, 0}};
    double slope = 1, value = 0;

    if (o->kind == GRAPH_LATTICE && lattice_spacing(o) >= direct_below)
        return plain_lattice(program, o, GRAPH_LATTICE, x, y);
    if (o->kind == GRAPH_SLOPE_X || o->kind == GRAPH_SLOPE_Y)
        return plain_lattice(program, &program->operation[o->input[0]], o->kind, x, y);
    double error = 0;
    for (int i = 0; i < o->inputs; i++) {
        in[i] = plain_at(program, o->input[i], x, y, direct_below);
        error += in[i].error;
    }
    const double a = in[0].value, b = in[1].value, c = in[2].value;
    switch (o->kind) {
    case GRAPH_NOISE:
        if (error > 0)
            return unknown(0);
        return plain_noise(o, x, y, a, b);
    case GRAPH_CONSTANT:
        return (struct estimate){p, 0};
    case GRAPH_WAVE_X:
    case GRAPH_WAVE_Y:
        return (struct estimate){plain_wave(o, o->kind == GRAPH_WAVE_X ? x : y), 2e-7};
    case GRAPH_LATTICE: /* direct */
        return in[0];
    case GRAPH_BIOME:
        return plain_biome(o->biomes, in);
    case GRAPH_ADD:
        value = a + b;
        break;
    case GRAPH_SUBTRACT:
        value = a - b;
        break;
    case GRAPH_MULTIPLY:
        value = a * b;
        slope = fabs(a) + fabs(b) + error;
        break;
    case GRAPH_MIN:
        value = fmin(a, b);
        break;
    case GRAPH_MAX:
        value = fmax(a, b);
        break;
    case GRAPH_SMOOTH_MIN:
        value = smooth_min(a, b, p);
        break;
    case GRAPH_SMOOTH_MAX:
        value = -smooth_min(-a, -b, p);
        break;
    case GRAPH_ABS:
        value = fabs(a);
        break;
    case GRAPH_CLAMP:
        value = fmin(fmax(a, p), q);
        break;
    case GRAPH_MIX:
        value = a + c * (b - a);
        slope = 1 + fabs(c) + fabs(b - a) + error;
        break;
    case GRAPH_STEP:
        value = smoothstep((a - p) / (q - p));
        slope = 1.5 / fabs(q - p);
        break;
    case GRAPH_RIDGE:
        value = smoothstep(1 - fabs(a) / p);
        slope = 1.5 / p;
        break;
    case GRAPH_TERRACE:
        value = p * (floor(a / p) + smoothstep((a / p - floor(a / p) - 0.5) / q + 0.5));
        slope = 1.5 / q;
        break;
    case GRAPH_SPLINE:
    case GRAPH_DAMPED:
    case GRAPH_ERODE:
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
    case GRAPH_DRAIN:
    case GRAPH_DRAINAGE:
    case GRAPH_BASE_LEVEL:
    case GRAPH_BANK:
    case GRAPH_WATER:
    case GRAPH_RIVER:
    case GRAPH_CHANNEL:
        return unknown(0); /* they have tests of their own */
    }
    const double size = fabs(value) + fabs(a) + fabs(b);
    return (struct estimate){value, slope * (error + 4e-7 * size) + 1e-6 * (size + fabs(p))};
}

static void must_be_plain(const struct random_graph *graph, const struct program *program,
                          int operation, int64_t x, int64_t y, int *compared)
{
    const double value = value_at(program, operation, x, y);
    const struct estimate plain = plain_at(program, operation, x, y, 0);
    if (!isfinite(plain.error))
        return;
    ++*compared;
    must(fabs(value - plain.value) <= plain.error,
         "%s; operation %d at (%" PRId64 ", %" PRId64 "): %.9g, plain %.9g within %g",
         graph_text(graph), operation, x, y, value, plain.value, plain.error);
}

START_TEST(values_are_those_of_a_plain_evaluation)
{
    for (int i = 0; i < GRAPHS_PER_ROUND; i++) {
        struct draws draws = {4500 + (uint64_t)(_i * GRAPHS_PER_ROUND + i), 0};
        struct random_graph *graph = draw_graph(&draws);
        struct program *program = graph_program(graph);
        int compared = 0;
        scratch = reference_scratch();
        for (int k = 0; k < program->count; k++) {
            const struct farlands_grid grid = draw_grid(&draws, 1, 1);
            must_be_plain(graph, program, k, grid.x, grid.y, &compared);
        }
        ck_assert_int_gt(compared, 0);
        farlands_scratch_free(scratch);
        program_free(program);
        free(graph);
    }
}
END_TEST

/* --- Noises that steer themselves --- */

static struct farlands_params steep_noise(enum farlands_basis basis, int octaves)
{
    struct farlands_params params = reference_params();
    params.basis = basis;
    params.wavelength = BLOCKS(100);
    params.octaves = octaves;
    params.knots = 0;
    return params;
}

/* With one octave n, a damped noise is n / (1 + damping |gradient of n per cell|^2). Gradients are
 * measured as differences. */
START_TEST(damping_follows_the_slope)
{
    const double damping = 0.7;
    struct draws draws = {5500 + (uint64_t)_i, 0};
    struct farlands_params params = steep_noise(FARLANDS_PERLIN, 1);
    params.fade = (enum farlands_fade)(_i % FARLANDS_FADES);
    const struct graph_node nodes[] = {
        {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &params},
        {GRAPH_DAMPED, {-1, -1, -1}, .number = {damping}, .noise = &params},
    };
    struct program *program = NULL;
    struct graph_fault fault;
    ck_assert_int_eq(program_new(&program, nodes, 2, &fault), 0);
    scratch = reference_scratch();
    for (int i = 0; i < 50; i++) {
        /* In the inside of a cell, because the slope of a linear fade jumps at its borders. */
        const int64_t shift_x = program->operation[0].noise->octave[0].shift[AXIS_X];
        const int64_t shift_y = program->operation[0].noise->octave[0].shift[AXIS_Y];
        const int64_t x = BLOCKS(100 * draw_between(&draws, -90, 90)) - shift_x +
                          draw_between(&draws, BLOCKS(3), BLOCKS(97));
        const int64_t y = BLOCKS(100 * draw_between(&draws, -90, 90)) - shift_y +
                          draw_between(&draws, BLOCKS(3), BLOCKS(97));
        const int64_t h = BLOCKS(0.5);
        const double n = value_at(program, 0, x, y);
        const double dx = (value_at(program, 0, x + h, y) - value_at(program, 0, x - h, y)) * 100;
        const double dy = (value_at(program, 0, x, y + h) - value_at(program, 0, x, y - h)) * 100;
        const double expected = n / (1 + damping * (dx * dx + dy * dy));
        const double damped = value_at(program, 1, x, y);
        must(fabs(damped - expected) < 1e-3, "(%" PRId64 ", %" PRId64 "): %g, expected %g", x, y,
             damped, expected);
    }
    farlands_scratch_free(scratch);
    program_free(program);
}
END_TEST

/* The formula of GRAPH_ERODE in double, with libm. */
static double plain_gullies(const struct operation *o, int64_t x, int64_t y, double a, double b,
                            double c)
{
    const double p = (double)o->number[0], q = (double)o->number[1];
    double result = 0;
    for (int k = 0; k < o->noise->octaves; k++) {
        const struct octave *octave = &o->noise->octave[k];
        const double blocks = (double)octave->wavelength / FARLANDS_UNIT;
        const struct lattice_place px =
            lattice_place(x + octave->shift[AXIS_X], octave->wavelength);
        const struct lattice_place py =
            lattice_place(y + octave->shift[AXIS_Y], octave->wavelength);
        const double square = a * a + b * b + 1e-12, g = sqrt(square), sx = -b / g, sy = a / g;
        double weight = 0.02, cosine = 0, sine = 0;
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                const uint32_t index =
                    lattice_corner(lattice_axis(px.cell + i, octave->key[AXIS_X]),
                                   lattice_axis(py.cell + j, octave->key[AXIS_Y]));
                const double fx = 0.125 + 0.75 * (index + 0.5) / 256;
                const double fy = 0.125 + 0.75 * ((index * 159 & 255) + 0.5) / 256;
                const double dx = (double)px.rest * octave->inverse - i - fx;
                const double dy = (double)py.rest * octave->inverse - j - fy;
                const double t = fmax(0, 1 - (dx * dx + dy * dy) / (81.0 / 64));
                const double phase = 2 * acos(-1) * (dx * sx + dy * sy);
                weight += t * t * t;
                cosine += t * t * t * cos(phase);
                sine += t * t * t * sin(phase);
            }
        const double depth = p * c * square / (square + q * q);
        result += blocks * depth * cosine / weight;
        a -= acos(-1) * depth * sine / weight * sx;
        b -= acos(-1) * depth * sine / weight * sy;
    }
    return result;
}

START_TEST(gullies_are_those_of_the_formula)
{
    struct draws draws = {6500 + (uint64_t)_i, 0};
    const struct farlands_params params = steep_noise(FARLANDS_CELLULAR, 4);
    const double level[] = {0, 0}, steepest[] = {1e9, -1e9};
    const double drawn[] = {(double)draw_between(&draws, -50, 50) / 64,
                            (double)draw_between(&draws, -50, 50) / 64};
    const double *slope = _i == 0 ? level : _i == 1 ? steepest : drawn;
    const double a = slope[0], b = slope[1];
    const struct graph_node nodes[] = {
        {GRAPH_CONSTANT, {-1, -1, -1}, .number = {a}},
        {GRAPH_CONSTANT, {-1, -1, -1}, .number = {b}},
        {GRAPH_CONSTANT, {-1, -1, -1}, .number = {0.75}},
        {GRAPH_ERODE, {0, 1, 2}, .number = {0.125, 0.3}, .noise = &params},
    };
    struct program *program = NULL;
    struct graph_fault fault;
    ck_assert_int_eq(program_new(&program, nodes, 4, &fault), 0);
    scratch = reference_scratch();
    for (int i = 0; i < 200; i++) {
        const int64_t x = draw_between(&draws, -BLOCKS(100000), BLOCKS(100000));
        const int64_t y = draw_between(&draws, -BLOCKS(100000), BLOCKS(100000));
        const double gullies = value_at(program, 3, x, y);
        const double plain = plain_gullies(&program->operation[3], x, y, a, b, 0.75);
        /* The polynomials are right to 3e-4, which steers finer octaves a little otherwise. */
        must(fabs(gullies - plain) < 0.02, "(%" PRId64 ", %" PRId64 ") on (%g, %g): %g, plain %g",
             x, y, a, b, gullies, plain);
    }
    farlands_scratch_free(scratch);
    program_free(program);
}
END_TEST

/* --- What is refused --- */

static const struct refusal {
    const char *key;
    int nodes;
    struct graph_node node[6];
} refusals[] = {
    {"to",
     2,
     {{GRAPH_CONSTANT, {-1, -1, -1}, .number = {1}},
      {GRAPH_STEP, {0, -1, -1}, .number = {1e9, 1e9 - 1}}}},
    {"number", 1, {{GRAPH_CONSTANT, {-1, -1, -1}, .number = {NAN}}}},
    {"width",
     2,
     {{GRAPH_CONSTANT, {-1, -1, -1}, .number = {1}}, {GRAPH_RIDGE, {0, -1, -1}, .number = {1e-7}}}},
    /* A lattice of the slopes of a finer one, through another that is finer, too. */
    {"lattice",
     5,
     {{GRAPH_CONSTANT, {-1, -1, -1}, .number = {1}},
      {GRAPH_LATTICE, {0, -1, -1}, .number = {BLOCKS(16)}},
      {GRAPH_SLOPE_X, {1, -1, -1}, .number = {0}},
      {GRAPH_LATTICE, {2, -1, -1}, .number = {BLOCKS(8)}},
      {GRAPH_LATTICE, {3, -1, -1}, .number = {BLOCKS(32)}}}},
    {"",
     2,
     {{GRAPH_CONSTANT, {-1, -1, -1}, .number = {1e9}},
      {GRAPH_MULTIPLY, {0, 0, -1}, .number = {0}}}},
};

START_TEST(what_could_not_be_computed_is_refused)
{
    const struct refusal *row = &refusals[_i];
    struct program *program = NULL;
    struct graph_fault fault;
    int err = 0;
    for (int nodes = 1; nodes <= row->nodes && !err; nodes++) {
        err = program_new(&program, row->node, nodes, &fault);
        must(err ? nodes == row->nodes : nodes < row->nodes, "row %d: %d with %d nodes", _i, err,
             nodes);
        if (!err)
            program_free(program);
    }
    ck_assert_int_eq(err, -EINVAL);
    ck_assert_str_eq(fault.key, row->key);
}
END_TEST

/* --- Which lattices apply --- */

/* A lattice at whose nodes another of the same spacing is evaluated; and pictures with samples as
 * far apart as its nodes, and a unit less. */
START_TEST(lattices_apply_up_to_their_spacing)
{
    struct farlands_params params = steep_noise(FARLANDS_PERLIN, 4);
    const struct graph_node nodes[] = {
        {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &params},
        {GRAPH_LATTICE, {0, -1, -1}, .number = {BLOCKS(16)}},
        {GRAPH_LATTICE, {1, -1, -1}, .number = {BLOCKS(16)}},
    };
    struct program *program = NULL;
    struct graph_fault fault;
    ck_assert_int_eq(program_new(&program, nodes, 3, &fault), 0);
    scratch = reference_scratch();
    for (int i = 0; i < 20; i++) {
        const int64_t x = BLOCKS(7 * i), y = BLOCKS(-5 * i);
        const struct estimate plain = plain_at(program, 2, x, y, 0);
        must(fabs(value_at(program, 2, x, y) - plain.value) <= plain.error, "value %g; expected %g",
             value_at(program, 2, x, y), plain.value);
    }
    for (int shorter = 0; shorter < 2; shorter++) {
        const struct farlands_grid grid = {5, 7, BLOCKS(16) - shorter, 20, 20, true};
        struct farlands_grid whole = grid;
        whole.band_limit = false;
        float *picture = graph_values(program, kernel_choose(), scratch, &grid, 1);
        float *input = graph_values(program, kernel_choose(), scratch, &grid, 0);
        float *exact = graph_values(program, kernel_choose(), scratch, &whole, 1);
        ck_assert(memcmp(picture, shorter ? exact : input, 400 * sizeof *picture) == 0);
        free(picture);
        free(input);
        free(exact);
    }
    farlands_scratch_free(scratch);
    program_free(program);
}
END_TEST

/* A moved noise in pictures, with cells 2^14 samples wide: in double; and less: in float. */
START_TEST(pictures_move_noises_in_float)
{
    struct farlands_params bend = steep_noise(FARLANDS_PERLIN, 1), params = bend;
    bend.wavelength = BLOCKS(100000);
    params.wavelength = BLOCKS(1 << 20);
    const struct graph_node nodes[] = {
        {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &bend},
        {GRAPH_NOISE, {0, 0, -1}, .number = {50000}, .noise = &params},
    };
    struct program *program = NULL;
    struct graph_fault fault;
    ck_assert_int_eq(program_new(&program, nodes, 2, &fault), 0);
    scratch = reference_scratch();
    for (int farther = 0; farther < 2; farther++) {
        const struct farlands_grid grid = {5, 7, BLOCKS(64) + farther, 200, 20, true};
        struct farlands_grid whole = grid;
        whole.band_limit = false;
        float *picture = graph_values(program, kernel_choose(), scratch, &grid, 1);
        float *exact = graph_values(program, kernel_choose(), scratch, &whole, 1);
        for (int i = 0; i < 4000; i++)
            must(fabsf(picture[i] - exact[i]) < 1e-6f, "sample of a picture %g; expected %g",
                 (double)picture[i], (double)exact[i]);
        ck_assert((memcmp(picture, exact, 4000 * sizeof *picture) != 0) == farther);
        free(picture);
        free(exact);
    }
    farlands_scratch_free(scratch);
    program_free(program);
}
END_TEST

/* --- Programs are told apart --- */

static uint64_t id_of(const struct random_graph *graph)
{
    struct program *program = graph_program(graph);
    const uint64_t id = program->id;
    program_free(program);
    return id;
}

/* Change number CHANGE of NODE a little. False if there is no such number. */
static bool change_node(struct random_graph *graph, int node, int change)
{
    struct graph_node *n = &graph->node[node];
    struct farlands_params *noise = &graph->noise[node];
    switch (change) {
    case 0:
    case 1:
        if (operation_has_spacing(n->kind))
            n->number[change] *= 2; /* a power of two */
        else
            n->number[change] += 0.01;
        return change < graph_shape(n).numbers && n->kind != GRAPH_LATTICE;
    case 2: /* a constant is a constant, whatever its inputs */
        n->input[0]--;
        return n->input[0] >= 0 && graph_shape(n).inputs > 0 && n->kind != GRAPH_SLOPE_X &&
               n->kind != GRAPH_SLOPE_Y;
    case 3:
        noise->seed++;
        return n->noise;
    case 4:
        noise->wavelength += 16;
        return n->noise && noise->period == 0;
    case 5:
        graph->curve[node].knot[0].metres += 1;
        return n->curve;
    case 6:
        graph->curve[node].cubic = !graph->curve[node].cubic;
        return n->curve;
    case 7:
        graph->biomes[node].row[0].id ^= 128;
        return n->biomes;
    default:
        graph->biomes[node].row[0].range[BIOME_SLOPE] = (struct biome_range){-7, 8};
        return n->biomes;
    }
}

/* A scratch keeps nodes of lattices of the program that it knows by this number. */
START_TEST(a_changed_graph_has_another_id)
{
    for (int i = 0; i < GRAPHS_PER_ROUND; i++) {
        struct draws draws = {8500 + (uint64_t)(_i * GRAPHS_PER_ROUND + i), 0};
        struct random_graph *graph = draw_graph(&draws);
        const uint64_t id = id_of(graph);
        ck_assert_uint_eq(id, id_of(graph));
        for (int node = 0; node < graph->count; node++)
            for (int change = 0; change < 9; change++) {
                const struct graph_node kept = graph->node[node];
                const struct farlands_params noise = graph->noise[node];
                const struct curve_params curve = graph->curve[node];
                const struct biome_rows biomes = graph->biomes[node];
                struct graph_fault fault;
                struct program *program;
                if (change_node(graph, node, change) &&
                    program_new(&program, graph->node, graph->count, &fault) == 0) {
                    must(program->id != id, "%s: change %d of node %d", graph_text(graph), change,
                         node);
                    program_free(program);
                }
                graph->node[node] = kept;
                graph->noise[node] = noise;
                graph->curve[node] = curve;
                graph->biomes[node] = biomes;
            }
        free(graph);
    }
}
END_TEST

/* Their first pieces have the same sum of value and slope. */
START_TEST(curves_have_ids_of_their_own)
{
    const struct curve_params curves[] = {
        {.knot = {{0, 1}, {1, 3}}, .knots = 2},         {.knot = {{0, 1}, {1, 4}}, .knots = 2},
        {.knot = {{0, 2}, {1, 3}}, .knots = 2},         {.knot = {{0, 1}, {2, 5}}, .knots = 2},
        {.knot = {{0, 1}, {1, 3}, {2, 3}}, .knots = 3},
    };
    uint64_t ids[LENGTH(curves)];
    for (int i = 0; i < LENGTH(curves); i++) {
        const struct graph_node nodes[] = {
            {GRAPH_CONSTANT, {-1, -1, -1}, .number = {0.5}},
            {GRAPH_SPLINE, {0, -1, -1}, .number = {0}, .curve = &curves[i]}};
        struct program *program = NULL;
        struct graph_fault fault;
        ck_assert_int_eq(program_new(&program, nodes, 2, &fault), 0);
        ids[i] = program->id;
        program_free(program);
        for (int k = 0; k < i; k++)
            must(ids[k] != ids[i], "curves %d and %d", k, i);
    }
}
END_TEST

/* Slopes whose squares are infinite. */
START_TEST(gullies_that_are_too_steep_are_refused)
{
    const struct farlands_params params = steep_noise(FARLANDS_CELLULAR, 1);
    struct graph_node nodes[] = {
        {GRAPH_CONSTANT, {-1, -1, -1}, .number = {5e8}},
        {GRAPH_ADD, {0, 0, -1}, .number = {0}},
        {GRAPH_ADD, {1, 1, -1}, .number = {0}},
        {GRAPH_CONSTANT, {-1, -1, -1}, .number = {1}},
        {GRAPH_ERODE,
         {_i == 0 ? 2 : 3, _i == 1 ? 2 : 3, _i == 2 ? 0 : 3},
         .number = {2.5, 1},
         .noise = &params},
    };
    struct program *program = NULL;
    struct graph_fault fault;
    ck_assert_int_eq(program_new(&program, nodes, 5, &fault), -EINVAL);
    ck_assert_int_eq(fault.node, 4);
    memcpy(nodes[4].input, (int[GRAPH_MAX_INPUTS]){3, 3, 3, -1, -1}, sizeof nodes[4].input);
    ck_assert_int_eq(program_new(&program, nodes, 5, &fault), 0);
    program_free(program);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph");
    TCase *tests = suite_case(suite, "random graphs");
    tcase_add_loop_test(tests, values_are_those_of_a_plain_evaluation, 0, graph_rounds());
    tests = suite_case(suite, "noises that steer themselves");
    tcase_add_loop_test(tests, damping_follows_the_slope, 0, 6);
    tcase_add_loop_test(tests, gullies_are_those_of_the_formula, 0, 8);
    tcase_add_test(tests, lattices_apply_up_to_their_spacing);
    tcase_add_test(tests, pictures_move_noises_in_float);
    tests = suite_case(suite, "programs are told apart");
    tcase_add_loop_test(tests, a_changed_graph_has_another_id, 0, graph_rounds() / 5);
    tcase_add_test(tests, curves_have_ids_of_their_own);
    tests = suite_case(suite, "refused graphs");
    tcase_add_loop_test(tests, what_could_not_be_computed_is_refused, 0, LENGTH(refusals));
    tcase_add_loop_test(tests, gullies_that_are_too_steep_are_refused, 0, 3);
    return suite_run(suite);
}
