/*
 * Prices: what each operation takes at a square's samples, and at the lattice nodes and river nodes
 * that they need. All in integers, picoseconds and units.
 */
#include "price.h"

#include <stdlib.h>
#include <string.h>

#include "noise/evaluate/patch.h"
#include "noise/kernel/scratch.h"
#include "noise/terrain/terrain_parts.h"

/* An octave by rows: for each row and column, each sample, each lattice row, each sample on such a
 * row, and each corner in it. */
struct octave_price {
    uint64_t side, sample, line, line_sample, corner;
};

static const struct octave_price octave_price[FARLANDS_BASES] = {
    [FARLANDS_PERLIN] = {14000, 75, 25000, 400, 560},
    [FARLANDS_CELLULAR] = {30000, 700, 30000, 500, 150},
    [FARLANDS_VALUE] = {12000, 55, 20000, 200, 100},
};
static const struct octave_price damped_price = {40000, 450, 60000, 1400, 600};
static const struct octave_price gully_price = {115000, 2100, 31000, 500, 150};
/* An octave at a single sample. */
static const uint64_t point_price[FARLANDS_BASES] = {5300, 5900, 5800, 3200};

enum {
    START = 1000000,   /* for a square */
    ROW = 6000,        /* for each row in an operation */
    PLACE = 50000,     /* for an operation, once */
    FRACTAL = 400,     /* for an octave that is not simply added */
    CURVE = 400,       /* with up to SHORT_CURVE pieces, */
    LONG_CURVE = 1500, /* and with more pieces than a kernel with 8 lanes keeps in a register */
    SHORT_CURVE = 8,
    BIOME_ROW = 300,     /* for a row in a table, and for a range in a row */
    NODE = 2000000,      /* for a node in a drainage, without its ground, */
    NODE_GROUND = 32,    /* which is evaluated so often */
    NODES = 24,          /* along an axis around a place, on each level */
    NODES_KEPT = 128,    /* that a drainage remembers */
    NODE_SAMPLES = 8,    /* that show a level in a picture */
    BUILT_NODE = 350000, /* for a node of ground that is built by its drainage, with its fields: */
    BUILT_NODES = 24,    /* along an axis around all places of a set, on each level; */
    BUILT_KEPT = 600,    /* along an axis, are remembered: more are found twice */
    BUILT_FIRST = 116,   /* around each place, if they lie far apart */
    BUILT_SAMPLES = 2,   /* that show a level in a picture */
    MOST_TIMES = 64,
};

/* What is evaluated together: samples, or the lattice nodes that samples lie between. */
struct set {
    int64_t places, step; /* samples along an axis, and the distance between them */
    int64_t span;         /* how far a sample's nodes extend along an axis; 0: just samples */
    int64_t band_limit, direct_below; /* as in struct domain */
    uint64_t n;                       /* evaluations along an axis */
    uint64_t times;                   /* how often they are made */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Counts points SPACING apart along an axis: as many as SET's samples need together. Each one that
 * is far from the others needs EACH beyond its span, and all need ALL beyond theirs. */
static uint64_t count_apart(const struct set *set, int64_t spacing, int64_t each, int64_t all)
{
    const int64_t span = (set->places - 1) * set->step + set->span;
    return (uint64_t)least(set->places * ((set->span + spacing / 2) / spacing + each),
                           (span + spacing / 2) / spacing + all);
}

static uint64_t count(const struct set *set, int64_t spacing, int64_t more)
{
    return count_apart(set, spacing, more, more);
}

static bool is_few(const struct set *set)
{
    return !set->band_limit && set->n < KERNEL_STEP && set->n * set->n <= KERNEL_POINTS;
}

static uint64_t of_points(const struct set *set, uint64_t price)
{
    const uint64_t samples = set->n * set->n;
    return is_few(set) ? PLACE / 4 + 2 * samples * price : set->n * ROW + samples * price;
}

static uint64_t of_octave(const struct set *set, const struct octave *octave, uint64_t corners,
                          const struct octave_price *price)
{
    uint64_t lines = count(set, octave->wavelength, (int64_t)corners);
    lines = lines < set->n * corners ? lines : set->n * corners;
    return set->n * price->side + set->n * set->n * price->sample +
           lines * (price->line + set->n * price->line_sample + lines * price->corner);
}

static bool is_silent(const struct set *set, const struct operation *o, const struct octave *octave)
{
    return set->band_limit && (o->kind == GRAPH_ERODE ? octave_gully_limit : octave_band_limit)(
                                  octave, set->band_limit) == 0;
}

static uint64_t of_noise(const struct set *set, const struct operation *o)
{
    const struct noise *noise = o->noise;
    const struct basis basis = basis_of(noise->basis);
    const bool steered = o->kind != GRAPH_NOISE;
    const bool points = basis.method == BASIS_POINTS || noise->warp != 0 || o->inputs > 0;
    const bool sum = noise->fractal == FARLANDS_NONE || noise->fractal == FARLANDS_FBM;
    uint64_t ps = 0;
    for (int k = 0; k < noise->octaves; k++) {
        if (is_silent(set, o, &noise->octave[k]))
            break;
        if (steered)
            ps += of_octave(set, &noise->octave[k], o->kind == GRAPH_ERODE ? 3 : 2,
                            o->kind == GRAPH_ERODE ? &gully_price : &damped_price);
        else if (points || is_few(set))
            ps += of_points(set, point_price[noise->basis]);
        else
            ps += of_octave(set, &noise->octave[k], (uint64_t)basis.corners,
                            &octave_price[noise->basis]);
        ps += sum || steered ? 0 : set->n * set->n * FRACTAL;
    }
    for (int axis = 0; axis < 2 && noise->warp != 0; axis++)
        ps += is_few(set)
                  ? of_points(set, point_price[FARLANDS_PERLIN])
                  : of_octave(set, &noise->warp_octave[axis], 2, &octave_price[FARLANDS_PERLIN]);
    return ps;
}

static uint64_t of_operation(const struct set *set, const struct operation *o)
{
    const uint64_t samples = set->n * set->n;
    uint64_t sample = (uint64_t)operation_kinds[o->kind].price;
    if (o->kind == GRAPH_BIOME)
        sample = (uint64_t)(o->biomes->count + o->biomes->limits) * BIOME_ROW;
    if (o->curve)
        sample += o->curve->pieces > SHORT_CURVE ? LONG_CURVE : CURVE;
    return PLACE + set->n * ROW + samples * sample + (o->noise ? of_noise(set, o) : 0);
}

/* --- Sets --- */

/* How a lattice is needed. Its nodes are evaluated again for each set whose samples take more nodes
 * than those before. */
struct need {
    int64_t span; /* the largest among the samples' spans; -1: not needed */
    uint64_t times;
};

struct pricing {
    const struct program *program;
    const uint64_t *node; /* each drainage's price per node */
    uint64_t *own;
    struct need lattice[GRAPH_MAX_NODES];
    bool rivers_known[GRAPH_MAX_NODES];
};

/* Add TIMES times PS to operation K's price. */
static void charge(struct pricing *p, int k, uint64_t ps, uint64_t times)
{
    const uint64_t most = PRICE_MOST - p->own[k];
    p->own[k] += times > 0 && ps > most / times ? most : ps * times;
}

/* How many of RIVERS' nodes SET needs. AGAIN: without those that are remembered. */
static uint64_t nodes_of(const struct set *set, const struct rivers_params *rivers, bool again)
{
    uint64_t nodes = 0;
    for (int level = 0; level < rivers->levels; level++) {
        const int64_t spacing = rivers_spacing(rivers, level);
        const uint64_t along = count(set, spacing, NODES);
        if (level > 0 && spacing < NODE_SAMPLES * set->band_limit)
            break;
        nodes += again && along <= NODES_KEPT ? 0 : along * along;
    }
    return nodes;
}

/* Charge for the blocks of GRAPH_DRAINAGE K. They are needed once, whatever is read from them. */
static void charge_ground(struct pricing *p, const struct set *set, int k,
                          bool found[2][GRAPH_MAX_NODES])
{
    const struct rivers_params *rivers = p->program->operation[k].rivers;
    for (int level = 0; level < rivers->levels && !found[0][k]; level++) {
        const int64_t spacing = rivers_spacing(rivers, level);
        const uint64_t along =
            count_apart(set, spacing, BUILT_FIRST, set->places > 1 ? BUILT_NODES : BUILT_FIRST);
        if (level > 0 && spacing < BUILT_SAMPLES * set->band_limit)
            break;
        charge(p, k, BUILT_NODE, along * along * (along > BUILT_KEPT ? 2 : 1));
    }
    found[0][k] = true;
}

/* Charge for the rivers of O, an operation in SET. They are needed once for valleys and once for
 * water each time. */
static void charge_rivers(struct pricing *p, const struct set *set, const struct operation *o,
                          bool found[2][GRAPH_MAX_NODES])
{
    const int source = o->river_source;
    const struct rivers_params *rivers = p->program->operation[source].rivers;
    if (p->program->operation[source].kind == GRAPH_DRAINAGE) {
        charge_ground(p, set, source, found);
        return;
    }
    const bool valleys = o->kind == GRAPH_DRAIN || o->kind == GRAPH_BASE_LEVEL;
    if (found[valleys][source])
        return;
    const bool known = p->rivers_known[source];
    /* Far samples take rows of nodes, and about half the rows displace remembered nodes. */
    const uint64_t rows = set->n / (uint64_t)set->places;
    const uint64_t times = set->times * (rows > 1 ? (rows + 1) / 2 : 1);
    if (!known)
        charge(p, source, p->node[source], nodes_of(set, rivers, false));
    charge(p, source, p->node[source] * (times - !known), nodes_of(set, rivers, true));
    p->rivers_known[source] = found[valleys][source] = true;
}

static bool hides_rivers(const struct pricing *p, const struct set *set, const struct operation *o)
{
    return o->river_source >= 0 &&
           p->program->operation[o->river_source].rivers->spacing / 4 < set->band_limit;
}

/* SET needs LATTICE's nodes, after the sets before. */
static void need_lattice(struct need *lattice, const struct set *set)
{
    if (set->span <= lattice->span)
        return;
    lattice->span = set->span;
    lattice->times += set->span > 0 ? set->times : 0; /* samples come last: others cover them */
    if (lattice->times > MOST_TIMES)
        lattice->times = MOST_TIMES;
}

/* Charge for OUTPUT over SET. */
static void charge_set(struct pricing *p, const struct set *set, int output)
{
    bool needed[GRAPH_MAX_NODES] = {false}, found[2][GRAPH_MAX_NODES] = {{false}};
    needed[output] = true;
    for (int k = output; k >= 0; k--) {
        const struct operation *o = &p->program->operation[k];
        if (!needed[k])
            continue;
        const bool hidden = hides_rivers(p, set, o);
        const bool direct =
            hidden || (o->kind == GRAPH_LATTICE && lattice_spacing(o) < set->direct_below);
        if (!direct)
            charge(p, k, of_operation(set, o), set->times);
        /* Pictures of the envelope need no blocks. */
        if (o->kind == GRAPH_DRAINAGE &&
            BUILT_SAMPLES * set->band_limit <= DRAINAGE_BUILDS * FARLANDS_UNIT)
            charge_ground(p, set, k, found);
        if (!hidden && o->river_source >= 0)
            charge_rivers(p, set, o, found);
        if (operation_is_patched(o) && !direct) {
            need_lattice(&p->lattice[operation_is_slope(o) ? o->input[0] : k], set);
            continue;
        }
        const bool silent = o->noise && is_silent(set, o, &o->noise->octave[0]);
        for (int i = 0; i < o->inputs - operation_is_near_water(o) && !silent; i++)
            needed[o->input[i]] = true;
    }
}

static void charge_square(struct pricing *p, int operation, struct price_square square)
{
    struct set set = {.places = square.side,
                      .step = square.step,
                      .band_limit = square.band_limit ? square.step : 0,
                      .direct_below = square.band_limit ? square.step + 1 : 0,
                      .n = (uint64_t)square.side,
                      .times = 1};
    const int64_t direct_below = set.direct_below;
    for (int k = 0; k < p->program->count; k++)
        p->lattice[k] = (struct need){-1, 0};
    charge_set(p, &set, operation);
    for (int k = p->program->count - 1; k >= 0; k--) {
        const struct need *lattice = &p->lattice[k];
        if (lattice->span < 0)
            continue;
        set.times = lattice->times > 0 ? lattice->times : 1;
        const int64_t own = lattice_spacing(&p->program->operation[k]);
        const bool coarse = own < direct_below; /* as in plan_lattices */
        const int64_t spacing = coarse ? square.step : own;
        set.band_limit = coarse ? spacing : 0;
        set.direct_below = coarse ? spacing + 1 : spacing;
        set.span = lattice->span;
        set.n = count(&set, spacing, TAPS);
        set.span += (TAPS - 1) * spacing;
        charge_set(p, &set, p->program->operation[k].input[0]);
    }
}

static uint64_t sum(const uint64_t own[GRAPH_MAX_NODES], int count)
{
    uint64_t all = 0;
    for (int k = 0; k < count; k++)
        all += own[k] < PRICE_MOST - all ? own[k] : PRICE_MOST - all;
    return all;
}

/* The price of one node in K's rivers: the ground around it, and the rest. */
static uint64_t price_node(const struct program *program, int k)
{
    enum { SIDE = 32 };
    const struct operation *o = &program->operation[k];
    const int64_t finest = rivers_spacing(o->rivers, o->rivers->levels - 1);
    uint64_t own[GRAPH_MAX_NODES] = {0};
    struct pricing p = {.program = program, .own = own};
    charge_square(&p, o->input[0], (struct price_square){finest, SIDE, true});
    return NODE + sum(own, program->count) / (SIDE * SIDE) * NODE_GROUND;
}

void price_nodes(const struct program *program, uint64_t node[GRAPH_MAX_NODES])
{
    for (int k = 0; k < program->count; k++)
        node[k] = program->operation[k].kind == GRAPH_DRAIN ? price_node(program, k) : 0;
}

uint64_t price_square(const struct program *program, const uint64_t node[GRAPH_MAX_NODES],
                      int operation, struct price_square square, uint64_t own[GRAPH_MAX_NODES])
{
    struct pricing p = {.program = program, .node = node, .own = own};
    memset(own, 0, GRAPH_MAX_NODES * sizeof *own);
    own[operation] = START;
    charge_square(&p, operation, square);
    return sum(own, operation + 1);
}

/* --- Fields --- */

enum { TILE = 256, BLOCK_BITS = 10 };
_Static_assert(1 << BLOCK_BITS == FARLANDS_UNIT, "");

/* OPERATION's price per sample, among many samples 2^BITS units apart. */
static uint64_t sample_of(const struct program *program, const uint64_t *node, int operation,
                          int bits, bool band_limit)
{
    uint64_t own[GRAPH_MAX_NODES];
    const struct price_square tile = {INT64_C(1) << bits, TILE, band_limit};
    return price_square(program, node, operation, tile, own) / (TILE * TILE);
}

static void price_field(struct price *out, const struct program *program, const uint64_t *node,
                        int operation)
{
    uint64_t own[GRAPH_MAX_NODES];
    for (int i = 0; i < PRICE_STEPS; i++)
        out->exact[i] = sample_of(program, node, operation, BLOCK_BITS + 2 * i, false);
    out->filtered = 0;
    for (int i = 0; i < PRICE_STEPS; i += 2) {
        const uint64_t sample = sample_of(program, node, operation, BLOCK_BITS + 2 * i, true);
        out->filtered = out->filtered > sample ? out->filtered : sample;
    }
    out->place = price_square(program, node, operation, (struct price_square){1, 1, false}, own);
    out->beside = out->place;
    for (int k = 0; k <= operation; k++)
        out->beside -= program->operation[k].rivers ? own[k] : 0;
}

struct price *prices_new(const struct farlands_terrain *terrain)
{
    struct price *prices = calloc((size_t)terrain->fields, sizeof *prices);
    uint64_t node[GRAPH_MAX_NODES];
    price_nodes(terrain->program, node);
    for (int i = 0; prices && i < terrain->fields; i++)
        price_field(&prices[i], terrain->program, node, terrain->field[i].operation);
    return prices;
}

uint64_t price_of_field(const struct price *price, int64_t step, bool band_limit)
{
    if (band_limit)
        return price->filtered;
    if (step <= FARLANDS_UNIT)
        return price->exact[0];
    const int power = 63 - __builtin_clzll((uint64_t)step) - BLOCK_BITS, i = power / 2;
    if (i >= PRICE_STEPS - 1)
        return price->exact[PRICE_STEPS - 1];
    return power % 2 ? (price->exact[i] + price->exact[i + 1]) / 2 : price->exact[i];
}

/* The field that each operation belongs to: the one whose expression has it. */
static void find_owners(const struct program *program, const int *field, int fields,
                        int owner[GRAPH_MAX_NODES])
{
    for (int k = 0; k < GRAPH_MAX_NODES; k++)
        owner[k] = -1;
    for (int i = fields - 1; i >= 0; i--)
        owner[field[i]] = i;
    for (int k = program->count - 1; k >= 0; k--)
        for (int i = 0; i < program->operation[k].inputs; i++)
            if (owner[program->operation[k].input[i]] < 0)
                owner[program->operation[k].input[i]] = owner[k];
}

/* Find TILE's dearest field. OWN: each operation's price. */
static void find_share(struct dear_tile *tile, const struct program *program, const int *field,
                       int fields, const uint64_t own[GRAPH_MAX_NODES])
{
    int owner[GRAPH_MAX_NODES];
    uint64_t price[GRAPH_MAX_NODES] = {0};
    find_owners(program, field, fields, owner);
    for (int k = 0; k < program->count; k++)
        if (owner[k] >= 0)
            price[owner[k]] += own[k];
    tile->dearest = 0;
    for (int i = 1; i < fields; i++)
        if (price[i] > price[tile->dearest])
            tile->dearest = i;
    tile->percent = (int)((price[tile->dearest] + tile->price / 200) / (tile->price / 100 + 1));
}

struct dear_tile price_dearest(const struct program *program, const int *field, int fields)
{
    struct dear_tile dearest = {0};
    int64_t far = FARLANDS_UNIT << 20;
    uint64_t node[GRAPH_MAX_NODES];
    price_nodes(program, node);
    for (int k = 0; k < program->count; k++)
        far = program->operation[k].rivers ? TERRAIN_FAR : far;
    for (int i = 0; i < fields; i++)
        for (int64_t step = FARLANDS_UNIT; step <= FARLANDS_UNIT << 20; step *= 4) {
            uint64_t own[GRAPH_MAX_NODES];
            const uint64_t price = price_square(program, node, field[i],
                                                (struct price_square){step, TILE, step > far}, own);
            if (price <= dearest.price)
                continue;
            dearest = (struct dear_tile){.price = price, .field = i, .step = step};
            find_share(&dearest, program, field, fields, own);
        }
    return dearest;
}
