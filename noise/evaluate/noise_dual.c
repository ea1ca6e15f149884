/* Noises at one place, in dual numbers, by the formulas in params.h and operations.def. */
#include "noise_dual.h"

#include "noise/exact/lattice.h"
#include "noise/kernel/formulas.h"

/* A place in an octave's lattice: the cell, and the fraction along each axis. */
struct spot {
    int64_t cell[2];
    struct dual f[2];
};

static struct dual along(struct moved_place place, enum axis axis)
{
    const struct dual by = axis == AXIS_X ? place.by_x : place.by_y;
    return (struct dual){by.v, by.x + (axis == AXIS_X ? (double)FARLANDS_UNIT : 0),
                         by.y + (axis == AXIS_Y ? (double)FARLANDS_UNIT : 0)};
}

static struct spot spot_at(const struct octave *octave, struct moved_place place)
{
    struct spot spot;
    for (int axis = AXIS_X; axis <= AXIS_Y; axis++) {
        const struct dual by = along(place, (enum axis)axis);
        const double whole = floor(by.v);
        const int64_t at = axis == AXIS_X ? place.x : place.y;
        const struct lattice_place in =
            lattice_place(at + octave->shift[axis] + (int64_t)whole, octave->wavelength);
        spot.cell[axis] = in.cell;
        spot.f[axis] = dual_scale(by, octave->inverse, 0);
        spot.f[axis].v = ((double)in.rest + (by.v - whole)) * octave->inverse;
    }
    return spot;
}

static uint32_t corner(const struct noise *noise, const struct octave *octave, int64_t x, int64_t y)
{
    const uint32_t *table = noise->permutation;
    if (octave->cells) {
        x = lattice_place(x, octave->cells).rest;
        y = lattice_place(y, octave->cells).rest;
    }
    if (noise->hash == FARLANDS_MIX64)
        return lattice_corner(lattice_axis(x, octave->key[AXIS_X]),
                              lattice_axis(y, octave->key[AXIS_Y]));
    return table[((uint32_t)x + table[y & 255] + octave->salt) & 255];
}

/* A corner's gradient times the way from the corner. */
static struct dual slope_along(const struct noise *noise, uint32_t index, struct dual x,
                               struct dual y)
{
    float gx, gy;
    gradient_at(&noise->gradients, index, &gx, &gy);
    return dual_add(dual_scale(x, (double)gx, 0), dual_scale(y, (double)gy, 0));
}

/* The derivative of fade_slope in formulas_template.h. */
static double fade_bend(enum farlands_fade fade, double t)
{
    switch (fade) {
    case FARLANDS_LINEAR:
        return 0;
    case FARLANDS_CUBIC:
        return 6 - 12 * t;
    case FARLANDS_QUINTIC:
        break;
    }
    return 60 * t * (1 + t * (2 * t - 3));
}

/* The weight of the corner on a cell's SIDE, and its derivative per cell. */
static struct dual side_weight(enum farlands_fade fade, struct dual f, int side)
{
    const struct dual far = dual_apply(f, broad_fade(fade, f.v), broad_fade_slope(fade, f.v));
    return side ? far : dual_scale(far, -1, 1);
}

static struct dual side_slope(enum farlands_fade fade, struct dual f, int side)
{
    const struct dual far = dual_apply(f, broad_fade_slope(fade, f.v), fade_bend(fade, f.v));
    return side ? far : dual_scale(far, -1, 0);
}

/* Perlin or value noise: what stands at the cell's corners, weighted by the fade. */
static struct dual faded_dual(const struct noise *noise, enum farlands_basis basis,
                              const struct octave *octave, struct spot spot)
{
    struct dual sum = dual_of(0);
    for (int c = 0; c < 4; c++) {
        const int i = c & 1, j = c >> 1;
        const uint32_t index = corner(noise, octave, spot.cell[AXIS_X] + i, spot.cell[AXIS_Y] + j);
        const struct dual weight = dual_multiply(side_weight(noise->fade, spot.f[AXIS_X], i),
                                                 side_weight(noise->fade, spot.f[AXIS_Y], j));
        const struct dual value = basis == FARLANDS_VALUE
                                      ? dual_of(2 * (double)index / 255 - 1)
                                      : slope_along(noise, index, dual_scale(spot.f[AXIS_X], 1, -i),
                                                    dual_scale(spot.f[AXIS_Y], 1, -j));
        sum = dual_add(sum, dual_multiply(weight, value));
    }
    return sum;
}

/* Perlin noise's slope along AXIS, per cell. */
static struct dual perlin_slope(const struct noise *noise, const struct octave *octave,
                                struct spot spot, enum axis axis)
{
    struct dual sum = dual_of(0);
    for (int c = 0; c < 4; c++) {
        const int side[2] = {c & 1, c >> 1}, other = AXIS_Y - (int)axis;
        const uint32_t index =
            corner(noise, octave, spot.cell[AXIS_X] + side[0], spot.cell[AXIS_Y] + side[1]);
        const struct dual weight = side_weight(noise->fade, spot.f[axis], side[axis]);
        const struct dual across = side_weight(noise->fade, spot.f[other], side[other]);
        const struct dual way = slope_along(noise, index, dual_scale(spot.f[AXIS_X], 1, -side[0]),
                                            dual_scale(spot.f[AXIS_Y], 1, -side[1]));
        float g[2];
        gradient_at(&noise->gradients, index, &g[0], &g[1]);
        const struct dual change =
            dual_add(dual_multiply(side_slope(noise->fade, spot.f[axis], side[axis]), way),
                     dual_scale(weight, (double)g[axis], 0));
        sum = dual_add(sum, dual_multiply(across, change));
    }
    return sum;
}

/* The place in the skewed lattice, exactly: see skew_places in kernel/places_template.h. */
static struct spot skewed(const struct octave *octave, struct moved_place place)
{
    const uint64_t skew = UINT64_C(0x5db3d742c265539e); /* (sqrt 3 - 1) / 2 */
    const struct spot at = spot_at(octave, place);
    struct spot out;
    const __int128 product = ((__int128)at.cell[AXIS_X] + at.cell[AXIS_Y]) * skew;
    const int64_t cells = (int64_t)(product >> 64);
    const double rest = (double)((uint64_t)product >> 12) * 0x1p-52;
    const struct dual both =
        dual_scale(dual_add(at.f[AXIS_X], at.f[AXIS_Y]), (double)skew * 0x1p-64, rest);
    for (int axis = AXIS_X; axis <= AXIS_Y; axis++) {
        out.f[axis] = dual_add(at.f[axis], both);
        const double whole = floor(out.f[axis].v);
        out.cell[axis] = at.cell[axis] + cells + (int64_t)whole;
        out.f[axis].v -= whole;
    }
    return out;
}

static struct dual simplex_dual(const struct noise *noise, const struct octave *octave,
                                struct moved_place place)
{
    const double unskew = 0x1.b0cb174df99c7p-3; /* (3 - sqrt 3) / 6 */
    const struct spot spot = skewed(octave, place);
    const struct dual shift = dual_scale(dual_add(spot.f[AXIS_X], spot.f[AXIS_Y]), unskew, 0);
    const struct dual x = dual_subtract(spot.f[AXIS_X], shift);
    const struct dual y = dual_subtract(spot.f[AXIS_Y], shift);
    const int east = x.v > y.v;
    const int corners[3][2] = {{0, 0}, {east, !east}, {1, 1}};
    struct dual sum = dual_of(0);
    for (int c = 0; c < 3; c++) {
        const int i = corners[c][0], j = corners[c][1];
        const struct dual dx = dual_scale(x, 1, (i + j) * unskew - i);
        const struct dual dy = dual_scale(y, 1, (i + j) * unskew - j);
        struct dual t = dual_add(dual_multiply(dx, dx), dual_multiply(dy, dy));
        t = dual_scale(t, -1, 0.5);
        if (t.v <= 0)
            continue;
        const uint32_t index = corner(noise, octave, spot.cell[AXIS_X] + i, spot.cell[AXIS_Y] + j);
        t = dual_multiply(t, t);
        t = dual_multiply(t, t);
        sum = dual_add(sum, dual_multiply(t, slope_along(noise, index, dx, dy)));
    }
    return dual_scale(sum, 70, 0);
}

/* The way from the point in cell (I, J), counted from the spot's cell, to the spot. Points are
 * drawn together, to INSET + (1 - 2 INSET) times their places. */
static void way_to(const struct noise *noise, const struct octave *octave, struct spot spot, int i,
                   int j, double inset, struct dual way[2])
{
    const uint32_t index = corner(noise, octave, spot.cell[AXIS_X] + i, spot.cell[AXIS_Y] + j);
    const double at[2] = {((double)index + 0.5) / 256, ((double)(159 * index & 255) + 0.5) / 256};
    way[0] = dual_scale(spot.f[AXIS_X], 1, -(i + inset + (1 - 2 * inset) * at[0]));
    way[1] = dual_scale(spot.f[AXIS_Y], 1, -(j + inset + (1 - 2 * inset) * at[1]));
}

static struct dual squared(const struct dual way[2])
{
    return dual_add(dual_multiply(way[0], way[0]), dual_multiply(way[1], way[1]));
}

static struct dual cellular_dual(const struct noise *noise, const struct octave *octave,
                                 struct spot spot)
{
    struct dual nearest = dual_of(1), way[2];
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            way_to(noise, octave, spot, i, j, 0, way);
            nearest = dual_least(squared(way), nearest);
        }
    return dual_scale(dual_root(nearest), 2, -1);
}

static struct dual octave_dual(const struct noise *noise, enum farlands_basis basis,
                               const struct octave *octave, struct moved_place place)
{
    switch (basis) {
    case FARLANDS_SIMPLEX:
        return simplex_dual(noise, octave, place);
    case FARLANDS_CELLULAR:
        return cellular_dual(noise, octave, spot_at(octave, place));
    case FARLANDS_VALUE:
    case FARLANDS_PERLIN:
        break;
    }
    return faded_dual(noise, basis, octave, spot_at(octave, place));
}

/* Add octave N to SUM. WEIGHT is what the octaves so far give it. */
static void add_octave(const struct noise *noise, const struct octave *octave, struct dual n,
                       struct dual *sum, struct dual *weight)
{
    const double share = octave->amplitude / noise->amplitude;
    switch (noise->fractal) {
    case FARLANDS_NONE:
    case FARLANDS_FBM:
        *sum = dual_add(*sum, dual_scale(n, share, 0));
        break;
    case FARLANDS_BILLOW:
        *sum = dual_add(*sum, dual_scale(dual_absolute(n), 2 * share, -share));
        break;
    case FARLANDS_RIDGED: {
        const struct dual ridge = dual_scale(dual_absolute(n), -1, noise->offset);
        const struct dual signal = dual_multiply(*weight, dual_multiply(ridge, ridge));
        *sum = dual_add(*sum, dual_scale(signal, share, 0));
        *weight = dual_clamp(dual_scale(signal, noise->gain, 0), 0, 1);
        break;
    }
    case FARLANDS_HYBRID: {
        const struct dual signal = dual_multiply(
            *weight, dual_scale(n, octave->amplitude, octave->amplitude * noise->offset));
        *sum = dual_add(*sum, dual_scale(signal, 1 / noise->amplitude, 0));
        *weight = dual_least(signal, dual_of(1));
        break;
    }
    }
}

struct dual noise_dual(const struct noise *noise, struct moved_place place)
{
    struct dual sum = dual_of(0), weight = dual_of(1);
    if (noise->warp != 0) {
        struct dual by[2];
        for (int axis = 0; axis < 2; axis++)
            by[axis] = octave_dual(noise, FARLANDS_PERLIN, &noise->warp_octave[axis], place);
        place.by_x = dual_scale(by[0], noise->warp, 0);
        place.by_y = dual_scale(by[1], noise->warp, 0);
    }
    for (int k = 0; k < noise->octaves; k++)
        add_octave(noise, &noise->octave[k],
                   octave_dual(noise, noise->basis, &noise->octave[k], place), &sum, &weight);
    return sum;
}

static struct moved_place still(int64_t x, int64_t y)
{
    return (struct moved_place){x, y, dual_of(0), dual_of(0)};
}

struct dual damped_dual(const struct operation *o, int64_t x, int64_t y)
{
    const struct noise *noise = o->noise;
    struct dual sum = dual_of(0), slope[2] = {dual_of(0), dual_of(0)};
    for (int k = 0; k < noise->octaves; k++) {
        const struct octave *octave = &noise->octave[k];
        const struct spot spot = spot_at(octave, still(x, y));
        for (int axis = 0; axis < 2; axis++)
            slope[axis] =
                dual_add(slope[axis], dual_scale(perlin_slope(noise, octave, spot, (enum axis)axis),
                                                 octave->amplitude, 0));
        const struct dual n = dual_scale(faded_dual(noise, FARLANDS_PERLIN, octave, spot),
                                         octave->amplitude / noise->amplitude, 0);
        const struct dual damping = dual_scale(squared(slope), (double)o->number[0], 1);
        sum = dual_add(sum, dual_divide(n, damping));
    }
    return sum;
}

/* One octave's stripes across the direction S: their mean cosine and sine. */
static void stripes(const struct noise *noise, const struct octave *octave, struct spot spot,
                    const struct dual s[2], struct dual *cosine, struct dual *sine)
{
    struct dual total = dual_of(0.02), way[2], c, d;
    *cosine = *sine = dual_of(0);
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
            way_to(noise, octave, spot, i, j, 0.125, way);
            const struct dual near = dual_scale(squared(way), -64.0 / 81, 1);
            if (near.v <= 0)
                continue;
            const struct dual weight = dual_multiply(near, dual_multiply(near, near));
            dual_turn(dual_add(dual_multiply(way[0], s[0]), dual_multiply(way[1], s[1])), &d, &c);
            total = dual_add(total, weight);
            *cosine = dual_add(*cosine, dual_multiply(weight, c));
            *sine = dual_add(*sine, dual_multiply(weight, d));
        }
    *cosine = dual_divide(*cosine, total);
    *sine = dual_divide(*sine, total);
}

struct dual gullies_dual(const struct operation *o, int64_t x, int64_t y, const struct dual in[3])
{
    const double pi = 3.141592653589793, half = (double)o->number[1];
    struct dual slope[2] = {in[0], in[1]}, sum = dual_of(0), cosine, sine;
    for (int k = 0; k < o->noise->octaves; k++) {
        const struct octave *octave = &o->noise->octave[k];
        const struct dual square = dual_scale(squared(slope), 1, 1e-12);
        const struct dual steep = dual_root(square);
        const struct dual s[2] = {dual_scale(dual_divide(slope[1], steep), -1, 0),
                                  dual_divide(slope[0], steep)};
        const struct dual share = dual_divide(square, dual_scale(square, 1, half * half));
        const struct dual depth = dual_multiply(dual_scale(share, (double)o->number[0], 0), in[2]);
        stripes(o->noise, octave, spot_at(octave, still(x, y)), s, &cosine, &sine);
        sum = dual_add(sum, dual_scale(dual_multiply(depth, cosine),
                                       (double)octave->wavelength / FARLANDS_UNIT, 0));
        const struct dual turn = dual_scale(dual_multiply(depth, sine), -pi, 0);
        for (int axis = 0; axis < 2; axis++)
            slope[axis] = dual_add(slope[axis], dual_multiply(turn, s[axis]));
    }
    return sum;
}
