/* From a graph to a terrain, and the public functions that run a kernel on it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/evaluate/evaluate.h"
#include "noise/terrain/terrain_parts.h"
#include "noise/water/downstream.h"

_Static_assert((int)TERRAIN_MAX_FIELDS == (int)PLAN_MAX_OUTPUTS, "what a plan takes");

static int take_fields(struct farlands_terrain *terrain, const struct graph *graph)
{
    terrain->field = calloc((size_t)graph->fields, sizeof *terrain->field);
    if (!terrain->field)
        return -ENOMEM;
    terrain->fields = graph->fields;
    terrain->height = graph->height;
    for (int i = 0; i < graph->fields; i++) {
        memcpy(terrain->field[i].name, graph->field[i].name, GRAPH_NAME_MAX);
        terrain->field[i].operation = terrain->program->place[graph->field[i].node];
    }
    return 0;
}

static const struct operation *operation_of(const struct farlands_terrain *terrain, int field)
{
    return &terrain->program->operation[terrain->field[field].operation];
}

/* A noise that nothing moves has a faster way to a single place. */
static bool is_plain_noise(const struct operation *o)
{
    return o->kind == GRAPH_NOISE && o->inputs == 0;
}

static int take_noise(struct farlands_terrain *terrain, const struct farlands_params *params)
{
    terrain->noise = operation_of(terrain, terrain->height)->noise;
    if (is_plain_noise(operation_of(terrain, terrain->height)))
        return 0;
    terrain->noise = terrain->own_noise = noise_new(params);
    return terrain->noise ? 0 : -ENOMEM;
}

static int make(struct farlands_terrain **out, const struct graph *graph,
                const struct farlands_params *params, bool ledges, struct graph_fault *fault)
{
    WITH_PLAIN_ARITHMETIC;
    const struct kernel *kernel = kernel_choose();
    *fault = (struct graph_fault){-1, NULL, NULL};
    if (!kernel)
        return -EINVAL;
    struct farlands_terrain *terrain = calloc(1, sizeof *terrain);
    if (!terrain)
        return -ENOMEM;
    terrain->kernel = kernel;
    density_make(&terrain->density, params, ledges);
    int err = program_new(&terrain->program, graph->node, graph->nodes, fault);
    if (!err)
        err = take_fields(terrain, graph);
    if (!err)
        err = take_noise(terrain, params);
    if (err) {
        terrain_free(terrain);
        return err;
    }
    *out = terrain;
    return 0;
}

int terrain_new(struct farlands_terrain **out, const struct graph *graph,
                const struct farlands_params *params, struct graph_fault *fault)
{
    return make(out, graph, params, true, fault);
}

int terrain_new_noise(struct farlands_terrain **out, const struct farlands_params *params)
{
    WITH_PLAIN_ARITHMETIC;
    const struct graph_node node = {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = params};
    const struct graph_field height = {"height", 0};
    const struct graph graph = {&node, 1, &height, 1, 0};
    struct graph_fault fault;
    if (params_fault(params, NULL))
        return -EINVAL;
    return make(out, &graph, params, false, &fault);
}

void terrain_free(struct farlands_terrain *terrain)
{
    if (!terrain)
        return;
    program_free(terrain->program);
    free(terrain->field);
    free(terrain->own_noise);
    free(terrain);
}

int terrain_field(const struct farlands_terrain *terrain, const char *name, size_t length)
{
    for (int i = 0; i < terrain->fields; i++) {
        const char *other = terrain->field[i].name;
        if (strlen(other) == length && memcmp(other, name, length) == 0)
            return i;
    }
    return -1;
}

int terrain_field_count(const struct farlands_terrain *terrain)
{
    return terrain->fields;
}

bool terrain_is_graph(const struct farlands_terrain *terrain)
{
    return terrain->own_noise || terrain->fields > 1;
}

static bool has_kind(const struct farlands_terrain *terrain, enum graph_kind kind)
{
    for (int k = 0; k < terrain->program->count; k++)
        if (terrain->program->operation[k].kind == kind)
            return true;
    return false;
}

bool terrain_has_drain(const struct farlands_terrain *terrain)
{
    return has_kind(terrain, GRAPH_DRAIN) || has_kind(terrain, GRAPH_DRAINAGE);
}

bool terrain_is_built(const struct farlands_terrain *terrain)
{
    return has_kind(terrain, GRAPH_DRAINAGE);
}

const char *terrain_field_name(const struct farlands_terrain *terrain, int field)
{
    return terrain->field[field].name;
}

int terrain_height_field(const struct farlands_terrain *terrain)
{
    return terrain->height;
}

void terrain_field_range(const struct farlands_terrain *terrain, int field, float *min, float *max)
{
    const struct operation *o = operation_of(terrain, field);
    *min = o->low;
    *max = o->high;
}

void terrain_range(const struct farlands_terrain *terrain, float *min, float *max)
{
    terrain_field_range(terrain, terrain->height, min, max);
}

int64_t terrain_finest(const struct farlands_terrain *terrain)
{
    int64_t finest = FARLANDS_MAX_WAVELENGTH;
    for (int k = 0; k < terrain->program->count; k++) {
        const struct noise *noise = terrain->program->operation[k].noise;
        if (noise && noise->octave[noise->octaves - 1].wavelength < finest)
            finest = noise->octave[noise->octaves - 1].wavelength;
    }
    return finest;
}

bool terrain_axis_in_bounds(int64_t first, int64_t step, int count)
{
    const int64_t limit = FARLANDS_LIMIT + FARLANDS_MAX_STEP;
    int64_t span, last;
    return count >= 1 && !__builtin_mul_overflow(step, (int64_t)count - 1, &span) &&
           !__builtin_add_overflow(first, span, &last) && first >= -limit && last <= limit;
}

static bool grid_in_bounds(const struct farlands_grid *grid, size_t stride)
{
    return grid->step >= 1 && grid->step <= FARLANDS_MAX_STEP &&
           terrain_axis_in_bounds(grid->x, grid->step, grid->width) &&
           terrain_axis_in_bounds(grid->y, grid->step, grid->height) &&
           stride >= (size_t)grid->width;
}

/* The GRAPH_WATER that FIELD is, or is made from; -1 if there is none. */
static int find_water(const struct farlands_terrain *terrain, int field)
{
    const struct operation *all = terrain->program->operation;
    bool needed[GRAPH_MAX_NODES] = {false};
    needed[terrain->field[field].operation] = true;
    for (int k = terrain->field[field].operation; k >= 0; k--) {
        if (needed[k] && all[k].kind == GRAPH_WATER)
            return k;
        for (int i = 0; needed[k] && i < all[k].inputs; i++)
            needed[all[k].input[i]] = true;
    }
    return -1;
}

bool terrain_field_is_water(const struct farlands_terrain *terrain, int field)
{
    return find_water(terrain, field) >= 0;
}

int terrain_course_at(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                      int field, int64_t x, int64_t y, struct farlands_course *out)
{
    WITH_PLAIN_ARITHMETIC;
    struct rivers *rivers;
    if (!terrain_axis_in_bounds(x, 1, 1) || !terrain_axis_in_bounds(y, 1, 1))
        return -EINVAL;
    const int err = evaluate_rivers(terrain->program, terrain->kernel, scratch,
                                    find_water(terrain, field), &rivers);
    return err ? err : downstream_begin(rivers, x, y, out);
}

/* At P, a course without water crosses a lake. P is land if the course is on an island there, or
 * above the lake. FIELD has the water level. */
static int look_at_lake(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                        int field, struct farlands_course_point *p)
{
    const struct farlands_grid here = {p->x, p->y, 1, 1, 1, false};
    float level, *const out = &level;
    const int err = terrain_fields(terrain, scratch, &here, &field, 1, &out, 1);
    if (!err && p->level > level + RIVERS_COURSE)
        p->kind = FARLANDS_LAND;
    return err;
}

int terrain_downstream(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       int field, struct farlands_course *course, struct farlands_course_point *out,
                       size_t room, size_t *count)
{
    WITH_PLAIN_ARITHMETIC;
    struct rivers *rivers;
    struct farlands_course at = *course;
    size_t done = 0;
    int err = evaluate_rivers(terrain->program, terrain->kernel, scratch,
                              find_water(terrain, field), &rivers);
    if (!err)
        err = downstream_follow(rivers, &at, out, room, &done);
    for (size_t i = 0; !err && i < done; i++)
        if (out[i].kind == FARLANDS_LAKE && out[i].width == 0)
            err = look_at_lake(terrain, scratch, field, &out[i]);
    if (err)
        return err;
    *course = at;
    *count = done;
    return 0;
}

int terrain_fields(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                   const struct farlands_grid *grid, const int *field, int count, float *const *out,
                   size_t stride)
{
    WITH_PLAIN_ARITHMETIC;
    struct output output[TERRAIN_MAX_FIELDS] = {{0, NULL}};
    if (!grid_in_bounds(grid, stride))
        return -EINVAL;
    for (int i = 0; i < count; i++)
        output[i] = (struct output){terrain->field[field[i]].operation, out[i]};
    return evaluate(terrain->program, terrain->kernel, scratch, grid, output, count, stride);
}

int terrain_gradients(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                      const struct farlands_grid *grid, int field, float *value, float *dx,
                      float *dy, size_t stride)
{
    WITH_PLAIN_ARITHMETIC;
    if (!grid_in_bounds(grid, stride) || grid->band_limit)
        return -EINVAL;
    return evaluate_derivatives(terrain->program, terrain->kernel, scratch, grid,
                                terrain->field[field].operation, value, dx, dy, stride);
}

int terrain_heights_within(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                           const struct farlands_grid *grid, float *out, size_t stride)
{
    WITH_PLAIN_ARITHMETIC;
    const struct output height = {terrain->field[terrain->height].operation, out};
    return evaluate(terrain->program, terrain->kernel, scratch, grid, &height, 1, stride);
}

int terrain_heights(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, float *out, size_t stride)
{
    if (!grid_in_bounds(grid, stride))
        return -EINVAL;
    return terrain_heights_within(terrain, scratch, grid, out, stride);
}

float terrain_field_at(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       int field, int64_t x, int64_t y)
{
    WITH_PLAIN_ARITHMETIC;
    const struct operation *o = operation_of(terrain, field);
    const struct farlands_grid grid = {x, y, 1, 1, 1, false};
    float value = NAN, *const out = &value;
    if (!terrain_axis_in_bounds(x, 1, 1) || !terrain_axis_in_bounds(y, 1, 1))
        return NAN;
    if (is_plain_noise(o))
        return terrain->kernel->point(o->noise, o->curve, x, y);
    struct farlands_scratch *own = NULL;
    if (scratch || !farlands_scratch_new(&own))
        (void)terrain_fields(terrain, scratch ? scratch : own, &grid, &field, 1, &out, 1);
    farlands_scratch_free(own);
    return value;
}

float terrain_height(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    return terrain_field_at(terrain, NULL, terrain->height, x, y);
}

const char *terrain_kernel(const struct farlands_terrain *terrain)
{
    return terrain->kernel->name;
}

const char *terrain_kernel_fault(void)
{
    return kernel_fault();
}
