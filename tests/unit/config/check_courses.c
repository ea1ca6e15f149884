/*
 * Courses of water, from the contract in farlands.h: from random places on land to their ends, in
 * several seeds of a small world and of the default one. COURSES: so many, in tens of thousands;
 * then it prints the worst of what it met.
 */
#include <errno.h>
#include <math.h>

#include "noise/farlands.h"
#include "tests/unit/support/draws.h"
#include "tests/unit/support/fixtures.h"

static const char small[] =
    "worlds:\n"
    "  - name: small\n"
    "    seeds: any\n"
    "    native_zoom: 16\n"
    "    fields:\n"
    "      hills: { noise: { wavelength: 24000, octaves: 7, persistence: 0.45 } }\n"
    "      ground: { add: [{ multiply: [hills, 700] }, 120] }\n"
    "      valleys: { drain: { of: ground, spacing: 16384, levels: 4, from: 2 } }\n"
    "      height: { channel: { of: valleys, drain: valleys }, unit: m }\n"
    "      water: { water: { of: height, drain: valleys }, unit: m }\n"
    "      river: { river: valleys }\n"
    "      bank: { bank: valleys, unit: m }\n";

static const char builtin[] = "worlds: [{like: default}]";

/* Seeds, and courses in each: in a run of all tests, and for each 10,000 of COURSES. Courses of the
 * default world are dear: up to 700 km long. */
static const struct {
    const char *name, *text;
    uint64_t first_seed;
    int seeds, courses, many_seeds, many_courses;
} followed[] = {{"small world", small, 1, 18, 15, 90, 100},
                {"default world", builtin, 1001, 2, 8, 10, 10}};

/* Ground that is built by its drainage: in blocks that may disagree about a course between them. */
#define BUILT(more)                                                                                            \
    "worlds:\n"                                                                                                \
    "  - name: built\n"                                                                                        \
    "    seeds: any\n"                                                                                         \
    "    native_zoom: 16\n"                                                                                    \
    "    fields:\n"                                                                                            \
    "      floors: { noise: { wavelength: 90000, octaves: 4, elevation: [[-1, -900], [1, 1500]] } }\n"         \
    "      ground: { drainage: { envelope: floors, steepness: 0.08, side: 0.5, spacing: 16384, levels: 8" more \
    " } }\n"                                                                                                   \
    "      height: { channel: { of: ground, drain: ground }, unit: m }\n"                                      \
    "      water: { water: { of: height, drain: ground }, unit: m }\n"                                         \
    "      river: { river: ground }\n"                                                                         \
    "      bank: { bank: ground, unit: m }\n"
static const char built[] = BUILT(""), with_lakes[] = BUILT(", lakes: 0.3");

static const char dry[] = "worlds: [{name: dry, noise: {wavelength: 1024, octaves: 8}}]";

/* The field `water` is not of a drain. */
static const char painted[] =
    "worlds: [{name: painted, fields: {height: {noise: {wavelength: 1024, octaves: 2}}, water: 12}}]";

static const char *const names[] = {"land", "river", "lake", "sea", "end lake"};

static struct farlands_scratch *scratch;

static void set_up(void)
{
    ck_assert_int_eq(farlands_scratch_new(&scratch), 0);
}

static void tear_down(void)
{
    farlands_scratch_free(scratch);
}

static struct farlands_world *world_of(const char *text)
{
    struct farlands_world *world = NULL;
    char message[FARLANDS_MESSAGE] = "";
    const int err = farlands_world_new(&world, text, strlen(text), NULL, message, sizeof message);
    must(err == 0 && world, "%d: %s", err, message);
    return world;
}

/* --- What courses are told --- */

enum { MOST = 1 << 16 };

/* The course from (X, Y), taken in pages of PAGE points; returns their number. */
static size_t course_from(const struct farlands_world *world, int64_t x, int64_t y, size_t page,
                          struct farlands_course_point point[MOST])
{
    struct farlands_course course;
    size_t count = 0, more;
    ck_assert_int_eq(farlands_course_at(world, scratch, x, y, &course), 0);
    do {
        must(count + page <= MOST, "a course of more than %zu points", count);
        const int err = farlands_downstream(world, scratch, &course, point + count, page, &more);
        must(err == 0, "%d", err);
        must(more <= page, "%zu points, room for %zu", more, page);
        count += more;
    } while (more == page);
    must(farlands_downstream(world, scratch, &course, point + count, page, &more) == 0 && more == 0,
         "%zu points after the end", more);
    return count;
}

/* The worst of each kind, and where: a place in blocks. */
struct worst {
    double value, x, y;
    uint64_t seed;
    long count, of;
};

static void see(struct worst *worst, bool counts, double value,
                const struct farlands_course_point *p, uint64_t seed)
{
    worst->of++;
    worst->count += counts;
    if (value > worst->value)
        *worst = (struct worst){value, farlands_blocks(p->x), farlands_blocks(p->y),
                                seed,  worst->count,          worst->of};
}

static void tell(const char *what, const struct worst *worst)
{
    printf("    %-52s %8ld of %8ld, worst %g at %.2f,%.2f of seed %llu\n", what, worst->count,
           worst->of, worst->value, worst->x, worst->y, (unsigned long long)worst->seed);
}

static struct {
    long courses, points, ends[5], kinds[5];
    double longest;
    struct worst level, kept, order, bank, crossing, other, narrower, much_narrower;
} totals;

static void must_end(const struct farlands_course_point *point, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct farlands_course_point *p = &point[i];
        const double x = farlands_blocks(p->x), y = farlands_blocks(p->y);
        const bool is_last = i + 1 == count, is_end = p->kind >= FARLANDS_SEA;
        must(p->kind >= FARLANDS_LAND && p->kind <= FARLANDS_END_LAKE, "kind %d", p->kind);
        must(is_end == is_last, "%s at %.2f,%.2f, point %zu of %zu", names[p->kind], x, y, i,
             count);
        must(p->kind == FARLANDS_LAND ? p->width == 0 && p->order == 0 && p->bed == p->level
                                      : p->bed <= p->level,
             "%.2f,%.2f: %s %g wide, order %g, bed %g, level %g", x, y, names[p->kind],
             (double)p->width, (double)p->order, (double)p->bed, (double)p->level);
        must(p->width == 0 || p->bed < p->level, "%.2f,%.2f: bed %g, level %g", x, y,
             (double)p->bed, (double)p->level);
        must(i == 0 || p->level <= p[-1].level, "%.2f,%.2f: level %.9g after %.9g", x, y,
             (double)p->level, (double)p[-1].level);
        if (i > 0 && !is_last && p->width > 0 && p->width < p[-1].width)
            continue; /* see_course counts these */
        must(i == 0 || p->bed <= p[-1].bed, "%.2f,%.2f: bed %.9g after %.9g", x, y, (double)p->bed,
             (double)p[-1].bed);
        must(i == 0 || is_last || (p->width >= p[-1].width && p->order >= p[-1].order),
             "%.2f,%.2f: %g wide, order %g, after %g, %g", x, y, (double)p->width, (double)p->order,
             (double)p[-1].width, (double)p[-1].order);
        must(p->kind != FARLANDS_SEA || p->level <= 0, "%.2f,%.2f: the sea at %g", x, y,
             (double)p->level);
    }
}

static double apart(const struct farlands_course_point *p, const struct farlands_course_point *q)
{
    return hypot(farlands_blocks(p->x - q->x), farlands_blocks(p->y - q->y));
}

static void see_course(const struct farlands_course_point *point, size_t count, uint64_t seed)
{
    static const double FIFTH = 0.2;
    double length = 0;
    for (size_t i = 0; i < count; i++) {
        const struct farlands_course_point *p = &point[i], *q = p - 1;
        totals.kinds[p->kind]++;
        if (i == 0)
            continue;
        length += apart(p, q);
        if (q->width > 0 && p->width > 0 && i + 1 < count) {
            const double lost = 1 - (double)p->width / (double)q->width;
            see(&totals.narrower, lost > 0, lost, p, seed);
            see(&totals.much_narrower, lost > FIFTH, lost, p, seed);
        }
    }
    totals.courses++;
    totals.points += (long)count;
    totals.ends[point[count - 1].kind]++;
    totals.longest = fmax(totals.longest, length / 1000);
}

/* How far water level WATER is outside the levels of the course around point I, half its width
 * upstream and downstream: rivers are level across at right angles to the nearest piece. */
static double level_off(const struct farlands_course_point *point, size_t count, size_t i,
                        double water)
{
    const double half = (double)point[i].width / 2;
    size_t first = i, last = i;
    while (first > 0 && apart(&point[first], &point[i]) < half)
        first--;
    while (last + 1 < count && apart(&point[last], &point[i]) < half)
        last++;
    return fmax(water - (double)point[first].level, (double)point[last].level - water);
}

/* How far the water's edge is above the ground beside it, on the way from P along (X, Y), a block
 * long. */
static double perched(const struct farlands_world *world, const struct farlands_course_point *p,
                      double x, double y)
{
    double level = (double)p->level;
    for (double off = 0.3 * (double)p->width; off < (double)p->width + 50; off++) {
        const int64_t bx = p->x + (int64_t)(x * off * FARLANDS_UNIT);
        const int64_t by = p->y + (int64_t)(y * off * FARLANDS_UNIT);
        const double water = (double)farlands_value(world, scratch, "water", bx, by);
        if (water == -32768)
            return level - fmax((double)farlands_height(world, scratch, bx, by), 0); /* the sea */
        level = water;
    }
    return -1; /* another river, or a lake */
}

/* Compare point I of a course with the fields. */
static void see_fields(const struct farlands_world *world,
                       const struct farlands_course_point *point, size_t count, size_t i,
                       uint64_t seed)
{
    const struct farlands_course_point *p = &point[i], *q = p + 1, *end = &point[count - 1];
    if (p->kind != FARLANDS_RIVER && p->kind != FARLANDS_LAKE)
        return;
    const double water = (double)farlands_value(world, scratch, "water", p->x, p->y);
    const double order = (double)farlands_value(world, scratch, "river", p->x, p->y);
    const double bank = (double)farlands_value(world, scratch, "bank", p->x, p->y);
    const double off = level_off(point, count, i, water);
    /* Where blocks of a drainage disagree, a course keeps its level until the river is below it. */
    see(p->level == q->level ? &totals.kept : &totals.level, off > 0.05, off, p, seed);
    /* At its mouth the middle of a river is in that which it joins. */
    if (bank < -0.6 * (double)p->width)
        return;
    if (p->kind == FARLANDS_RIVER)
        see(&totals.order, fabs(order - (double)p->order) > 0.01, fabs(order - (double)p->order), p,
            seed);
    if (end->kind == FARLANDS_SEA && apart(p, end) < (double)p->width)
        return; /* the sea is beside it */
    const double length = apart(p, q);
    const double x = farlands_blocks(q->x - p->x), y = farlands_blocks(q->y - p->y);
    for (int side = -1; side <= 1 && length > 0; side += 2) {
        const double above = perched(world, p, -y / length * side, x / length * side);
        see(&totals.bank, above > 0, above, p, seed);
    }
}

static bool are_same(const struct farlands_course_point *a, const struct farlands_course_point *b,
                     size_t count)
{
    for (; count > 0; count--, a++, b++)
        if (a->x != b->x || a->y != b->y || a->level != b->level || a->bed != b->bed ||
            a->width != b->width || a->order != b->order || a->kind != b->kind)
            return false;
    return true;
}

/* The course from point I of a course is the rest of that, as a rule: at a mouth there are two.
 * Where a course keeps its level, one that begins there has that of the river. */
static void see_rest(const struct farlands_world *world, const struct farlands_course_point *point,
                     size_t count, size_t i, uint64_t seed)
{
    static struct farlands_course_point rest[MOST];
    if (point[i].kind != FARLANDS_RIVER || point[i].level == point[i + 1].level)
        return;
    const size_t more = course_from(world, point[i].x, point[i].y, 1000, rest);
    bool found = false;
    for (size_t k = i; k <= i + 2 && k < count && !found; k++)
        found = more == count - k && are_same(rest, point + k, more);
    see(&totals.other, !found, found ? 0 : 1, &point[i], seed);
}

/* --- Courses beside each other --- */

struct segment {
    const struct farlands_course_point *a, *b;
};

/* The side of the line from A to B that C is on; places relative to A, in units, exact. */
static int side_of(const struct farlands_course_point *a, const struct farlands_course_point *b,
                   const struct farlands_course_point *c)
{
    const __int128 left = (__int128)(b->x - a->x) * (c->y - a->y);
    const __int128 right = (__int128)(b->y - a->y) * (c->x - a->x);
    return left > right ? 1 : left < right ? -1 : 0;
}

static bool cross(struct segment s, struct segment t)
{
    return side_of(s.a, s.b, t.a) * side_of(s.a, s.b, t.b) < 0 &&
           side_of(t.a, t.b, s.a) * side_of(t.a, t.b, s.b) < 0;
}

/* True if S and T end in the same point, or go on to one in a step: where courses join, straight
 * pieces stand in for curves that come within less than a metre of each other. */
static bool join(struct segment s, struct segment t)
{
    const int more = s.b->kind < FARLANDS_SEA, other = t.b->kind < FARLANDS_SEA;
    for (int i = 0; i <= more; i++)
        for (int k = 0; k <= other; k++)
            if (s.b[i].x == t.b[k].x && s.b[i].y == t.b[k].y)
                return true;
    return false;
}

static int by_west(const void *left, const void *right)
{
    const struct segment *s = left, *t = right;
    const int64_t a = s->a->x < s->b->x ? s->a->x : s->b->x;
    const int64_t b = t->a->x < t->b->x ? t->a->x : t->b->x;
    if (a != b)
        return a < b ? -1 : 1;
    if (s->a->x != t->a->x)
        return s->a->x < t->a->x ? -1 : 1;
    return s->a->y < t->a->y ? -1 : s->a->y > t->a->y;
}

/* Segments of rivers, which must not cross; a place has one course. */
static void compare(struct segment *segment, size_t count, uint64_t seed)
{
    qsort(segment, count, sizeof *segment, by_west);
    for (size_t i = 0; i < count; i++) {
        const struct segment s = segment[i];
        const int64_t east = s.a->x > s.b->x ? s.a->x : s.b->x;
        for (size_t k = i + 1; k < count; k++) {
            const struct segment t = segment[k];
            if ((t.a->x < t.b->x ? t.a->x : t.b->x) > east)
                break;
            if (s.a->x == t.a->x && s.a->y == t.a->y)
                must(s.b->x == t.b->x && s.b->y == t.b->y,
                     "two courses from %.2f,%.2f of seed %llu", farlands_blocks(s.a->x),
                     farlands_blocks(s.a->y), (unsigned long long)seed);
            const bool crosses = cross(s, t) && !join(s, t);
            see(&totals.crossing, crosses, crosses, s.a, seed);
        }
    }
}

static size_t add_segments(struct segment *segment, const struct farlands_course_point *point,
                           size_t count)
{
    size_t added = 0;
    for (size_t i = 0; i + 1 < count; i++)
        if (point[i].width > 0)
            segment[added++] = (struct segment){&point[i], &point[i + 1]};
    return added;
}

/* --- Tests --- */

/* A place on land within 60 km of the origin, or farther away if the sea is there. */
static int64_t draw_land(struct draws *draws, const struct farlands_world *world, int64_t *y)
{
    for (int64_t far = BLOCKS(60000);; far += far / 16) {
        const int64_t x = draw_between(draws, -far, far);
        *y = draw_between(draws, -far, far);
        if (farlands_height(world, scratch, x, *y) > 0)
            return x;
    }
}

/* A course in large pages is the same. */
static void must_be_same(const struct farlands_world *world, int64_t x, int64_t y,
                         const struct farlands_course_point *point, size_t count)
{
    static struct farlands_course_point whole[MOST];
    const size_t length = course_from(world, x, y, 1000, whole);
    must(length == count && are_same(whole, point, count),
         "pages make another course from %.3f,%.3f", farlands_blocks(x), farlands_blocks(y));
}

static void follow(const struct farlands_world *world, int courses, int thorough)
{
    static struct farlands_course_point point[1 << 20];
    static struct segment segment[1 << 20];
    const uint64_t seed = farlands_world_seed(world);
    struct draws draws = {seed, 0};
    size_t points = 0, segments = 0;
    for (int n = 0; n < courses && points + MOST < LENGTH(point); n++) {
        int64_t y;
        const int64_t x = draw_land(&draws, world, &y);
        struct farlands_course_point *p = point + points;
        const size_t count = course_from(world, x, y, n % 2 ? 1 + (size_t)n : 1000, p);
        must(count > 0, "no points");
        must_end(p, count);
        see_course(p, count, seed);
        for (size_t i = 0; i + 1 < count; i++)
            if (draw_once_in(&draws, thorough))
                see_fields(world, p, count, i, seed);
        see_rest(world, p, count, (size_t)draw_between(&draws, 0, (int64_t)count - 1), seed);
        if (n % 2)
            must_be_same(world, x, y, p, count);
        segments += add_segments(segment + segments, p, count);
        points += count;
    }
    compare(segment, segments, seed);
}

static void report(const char *world)
{
    printf("%s: %ld courses, %ld points, the longest %.0f km\n", world, totals.courses,
           totals.points, totals.longest);
    for (int k = 0; k < ROWS(names); k++)
        printf("    %-10s %8ld points, %6ld ends\n", names[k], totals.kinds[k], totals.ends[k]);
    tell("another level of the field by 5 cm", &totals.level);
    tell("the same, where the level does not fall", &totals.kept);
    tell("another order", &totals.order);
    tell("bank below the level", &totals.bank);
    tell("crossings", &totals.crossing);
    tell("narrower than before", &totals.narrower);
    tell("narrower by more than a fifth", &totals.much_narrower);
    tell("another course from a point of a river", &totals.other);
}

static void must_be_rare(const char *what, const struct worst *worst, double share)
{
    must((double)worst->count <= share * (double)worst->of, "%s: %ld of %ld, worst %g at %.2f,%.2f",
         what, worst->count, worst->of, worst->value, worst->x, worst->y);
}

START_TEST(courses_lead_to_the_end)
{
    const char *many = getenv("COURSES");
    const int seeds =
        many ? (followed[_i].many_seeds * atoi(many) + 9999) / 10000 : followed[_i].seeds;
    const int courses = many ? followed[_i].many_courses : followed[_i].courses;
    struct farlands_world *first = world_of(followed[_i].text);
    memset(&totals, 0, sizeof totals);
    for (int n = 0; n < seeds; n++) {
        struct farlands_world *world;
        const uint64_t seed = followed[_i].first_seed + (uint64_t)n;
        ck_assert_int_eq(farlands_world_reseed(&world, first, seed), 0);
        follow(world, courses, many ? 20 : 40);
        farlands_world_free(world);
    }
    farlands_world_free(first);
    if (many)
        report(followed[_i].name);
    ck_assert_int_ge(totals.ends[FARLANDS_SEA], 10);
    ck_assert_int_ge(totals.kinds[FARLANDS_RIVER], 1000);
    must_be_rare("levels of the field", &totals.level, 5e-4);
    must((double)totals.kept.count <= 0.1 * (double)totals.level.of, "%ld of %ld levels are kept",
         totals.kept.count, totals.level.of);
    must_be_rare("low banks", &totals.bank, 5e-4);
    must_be_rare("crossings", &totals.crossing, 0);
    must_be_rare("other courses", &totals.other, 0.01);
    must_be_rare("narrower rivers", &totals.narrower, 1e-5);
    must_be_rare("much narrower rivers", &totals.much_narrower, 2e-6);
}
END_TEST

/* Blocks of a drainage may disagree about a course: it keeps its level there, however many points
 * are asked for. */
START_TEST(courses_of_a_drainage_never_rise)
{
    enum { COURSES = 16, ROOM = 60, MOST_POINTS = 200000, NODE_STEPS = 128 };
    static struct farlands_course_point point[ROOM];
    struct farlands_world *world = world_of(_i == 0 ? built : with_lakes);
    struct draws draws = {5, 0};
    int kept = 0;
    for (int k = 0; k < COURSES; k++) {
        const int64_t far = 200000 * FARLANDS_UNIT;
        struct farlands_course course;
        float level = INFINITY;
        size_t count = 1;
        ck_assert_int_eq(farlands_course_at(world, scratch, draw_between(&draws, -far, far),
                                            draw_between(&draws, -far, far), &course),
                         0);
        for (int points = 0; count > 0; points += (int)count) {
            must(points < MOST_POINTS, "course %d has no end", k);
            const size_t room = (size_t)draw_between(&draws, 1, ROOM);
            ck_assert_int_eq(farlands_downstream(world, scratch, &course, point, room, &count), 0);
            for (size_t i = 0; i < count; i++) {
                must(point[i].level <= level && point[i].bed <= point[i].level,
                     "course %d: level %.9g, bed %.9g after %.9g", k, (double)point[i].level,
                     (double)point[i].bed, (double)level);
                level = point[i].level;
            }
            kept += course.step > NODE_STEPS;
        }
    }
    must(kept > 0, "no course keeps its level");
    farlands_world_free(world);
}
END_TEST

/* Blocks may lead water in a circle over the border between them: courses end there. */
START_TEST(courses_end_in_circles)
{
    static const struct {
        uint64_t seed;
        int64_t x, y, end_x, end_y; /* blocks */
    } rows[] = {{3000, 83, -142105, -16523, -131377}, {3005, -14222, -125370, -89724, -246042}};
    static struct farlands_course_point point[MOST];
    struct farlands_world *first = world_of(built);
    for (int i = 0; i < ROWS(rows); i++) {
        struct farlands_world *world;
        ck_assert_int_eq(farlands_world_reseed(&world, first, rows[i].seed), 0);
        const size_t count = course_from(world, BLOCKS(rows[i].x), BLOCKS(rows[i].y), 1000, point);
        const struct farlands_course_point *end = &point[count - 1];
        must_end(point, count);
        must(end->kind == FARLANDS_END_LAKE &&
                 fabs(farlands_blocks(end->x) - (double)rows[i].end_x) < 1 &&
                 fabs(farlands_blocks(end->y) - (double)rows[i].end_y) < 1,
             "row %d: %s at %.2f,%.2f", i, names[end->kind], farlands_blocks(end->x),
             farlands_blocks(end->y));
        farlands_world_free(world);
    }
    farlands_world_free(first);
}
END_TEST

/* --- Lakes --- */

/* A square of the exact ground, in which a lake is. */
enum { LAKE_SIDE = 160, LAKE_STEP = 16, LAKE_NEAR = 10 }; /* LAKE_NEAR: steps, 160 m */
struct lake_square {
    float height[LAKE_SIDE][LAKE_SIDE], water[LAKE_SIDE][LAKE_SIDE], river[LAKE_SIDE][LAKE_SIDE];
};

static void look_at_lake(const struct farlands_world *world, int64_t x, int64_t y,
                         struct lake_square *out)
{
    static const char *const names_of[] = {"height", "water", "river"};
    float *const rows[] = {out->height[0], out->water[0], out->river[0]};
    const int64_t step = BLOCKS(LAKE_STEP), half = LAKE_SIDE / 2 * step;
    const struct farlands_grid grid = {x - half, y - half, step, LAKE_SIDE, LAKE_SIDE, false};
    ck_assert_int_eq(
        farlands_fields(world, scratch, &grid, names_of, LENGTH(names_of), rows, LAKE_SIDE), 0);
}

/* Shores, where a sample is in a lake and its neighbor to one side is not in water: all; those
 * whose neighbor is lower than the lake; those with lower ground 160 m out. */
struct shores {
    long count, low, falling;
};

static bool is_wet(const struct lake_square *s, int row, int column)
{
    return s->water[row][column] > fmaxf(s->height[row][column], 0);
}

static void count_shores(const struct lake_square *s, struct shores *out)
{
    static const float LOW = 0.3f, FALLING = 5;
    for (int row = LAKE_NEAR; row < LAKE_SIDE - LAKE_NEAR; row++)
        for (int column = LAKE_NEAR; column < LAKE_SIDE - LAKE_NEAR; column++)
            for (int k = 0; k < 4; k++) {
                const int across = k % 2 ? 0 : 1 - k, down = k % 2 ? 2 - k : 0;
                const float level = s->water[row][column];
                if (!is_wet(s, row, column) || s->river[row][column] > 0 ||
                    is_wet(s, row + down, column + across))
                    continue;
                out->count++;
                out->low += s->height[row + down][column + across] < level - LOW;
                out->falling += s->height[row + LAKE_NEAR * down][column + LAKE_NEAR * across] <
                                level - FALLING;
            }
}

/* The first lake that a course from (X, Y) flows through; returns whether there is one. */
static bool find_lake(const struct farlands_world *world, int64_t x, int64_t y, int64_t *lake_x,
                      int64_t *lake_y)
{
    enum { PAGE = 1000, PAGES = 20 };
    static struct farlands_course_point point[PAGE];
    struct farlands_course course;
    size_t count = PAGE;
    ck_assert_int_eq(farlands_course_at(world, scratch, x, y, &course), 0);
    for (int page = 0; page < PAGES && count == PAGE; page++) {
        ck_assert_int_eq(farlands_downstream(world, scratch, &course, point, PAGE, &count), 0);
        for (size_t i = 0; i < count; i++)
            if (point[i].kind == FARLANDS_LAKE) {
                *lake_x = point[i].x;
                *lake_y = point[i].y;
                return true;
            }
    }
    return false;
}

/* Lakes lie in hollows: hardly any shore has lower ground beside it. */
START_TEST(lakes_have_shores)
{
    static const char *const lakes_of[] = {builtin, "worlds: [{like: alps}]"};
    enum { LAKES = 12 };
    static struct lake_square square;
    struct farlands_world *world = world_of(lakes_of[_i]);
    struct draws draws = {77, 0};
    struct shores shores = {0, 0, 0};
    int64_t seen[LAKES][2];
    int found = 0;
    for (int n = 0; n < 120 * LAKES && found < LAKES; n++) {
        int64_t y, lake_x, lake_y;
        bool is_new = true;
        const int64_t x = draw_land(&draws, world, &y);
        if (!find_lake(world, x, y, &lake_x, &lake_y))
            continue;
        for (int k = 0; k < found; k++)
            is_new &= llabs(seen[k][0] - lake_x) + llabs(seen[k][1] - lake_y) >
                      BLOCKS(LAKE_SIDE * LAKE_STEP);
        if (!is_new)
            continue;
        seen[found][0] = lake_x;
        seen[found][1] = lake_y;
        look_at_lake(world, lake_x, lake_y, &square);
        count_shores(&square, &shores);
        found++;
    }
    must(found == LAKES && shores.count > 1000, "%d lakes, %ld shores", found, shores.count);
    must(shores.low <= shores.count / 50 && shores.falling <= shores.count / 20,
         "%ld of %ld shores are low, %ld fall", shores.low, shores.count, shores.falling);
    farlands_world_free(world);
}
END_TEST

START_TEST(wrong_calls_are_refused)
{
    struct farlands_world *world = world_of(small), *without = world_of(dry),
                          *other = world_of(painted);
    struct farlands_course course = {7, 8, 9}, wrong[] = {{0, 0, 99},
                                                          {0, 0, -7},
                                                          {INT64_MAX, 0, 0},
                                                          {0, INT64_MIN, 0},
                                                          {1, INT64_MAX, 1}};
    struct farlands_course_point point;
    size_t count = 5;
    ck_assert_int_eq(farlands_course_at(without, scratch, 0, 0, &course), -ENOENT);
    ck_assert_int_eq(farlands_course_at(other, scratch, 0, 0, &course), -ENOENT);
    ck_assert_int_eq(farlands_course_at(NULL, scratch, 0, 0, &course), -EINVAL);
    ck_assert_int_eq(farlands_course_at(world, scratch, 0, 0, NULL), -EINVAL);
    ck_assert_int_eq(farlands_course_at(world, scratch, INT64_MAX, 0, &course), -EINVAL);
    ck_assert_int_eq(farlands_course_at(world, scratch, 0, INT64_MIN, &course), -EINVAL);
    ck_assert_int_eq(course.i, 7);
    ck_assert_int_eq(farlands_downstream(without, scratch, &course, &point, 1, &count), -ENOENT);
    ck_assert_int_eq(farlands_downstream(world, scratch, NULL, &point, 1, &count), -EINVAL);
    for (int i = 0; i < ROWS(wrong); i++)
        must(farlands_downstream(world, scratch, &wrong[i], &point, 1, &count) == -EINVAL &&
                 count == 5,
             "course %d", i);
    ck_assert_int_eq(farlands_course_at(world, NULL, 0, 0, &course), 0);
    ck_assert_int_eq(farlands_downstream(world, NULL, &course, &point, 1, &count), 0);
    ck_assert_int_eq(count, 1);
    farlands_world_free(world);
    farlands_world_free(without);
    farlands_world_free(other);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("courses");
    TCase *tcase = tcase_create("courses");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, courses_lead_to_the_end, 0, LENGTH(followed));
    tcase_add_loop_test(tcase, courses_of_a_drainage_never_rise, 0, 2);
    tcase_add_test(tcase, courses_end_in_circles);
    tcase_add_loop_test(tcase, lakes_have_shores, 0, 2);
    tcase_add_test(tcase, wrong_calls_are_refused);
    tcase_set_timeout(tcase, getenv("COURSES") ? 3600 : 600);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
