/* Plans of boxes and lists: each tile once, in order, in shards. */
#include "server/prerender/tile_plan.h"

#include <errno.h>
#include <inttypes.h>

#include "server/prerender/tile_list.h"
#include "tests/unit/support/fixtures.h"

#define BLOCK FARLANDS_UNIT
#define LIMIT FARLANDS_LIMIT
/* Their native zoom is 16. */
#define ORIGIN (-8388608 * BLOCK)

static struct worlds *worlds;

static void set_up(void)
{
    worlds = worlds_of(FRACTAL_WORLD);
}

static void tear_down(void)
{
    worlds_release(worlds);
}

static struct tile_box box_of(int zoom_min, int zoom_max)
{
    return (struct tile_box){.world = worlds->world,
                             .layer = {0},
                             .layer_count = 1,
                             .scale = 1,
                             .zoom_min = zoom_min,
                             .zoom_max = zoom_max,
                             .whole = true};
}

static const struct {
    int zoom, scale;
    int64_t box[4];              /* units: x0, y0, x1, y1; all 0: no box */
    int64_t x, y, width, height; /* expected tiles */
} boxes[] = {
    {0, 1, {0}, 0, 0, 1, 1},
    {3, 1, {0}, 0, 0, 8, 8},
    {10, 2, {0}, 0, 0, 1024, 1024},
    {26, 1, {0}, 0, 0, 1 << 26, 1 << 26},
    /* half-open: one unit more is one tile more */
    {16, 1, {0, 0, 256 * BLOCK, 256 * BLOCK}, 32768, 32768, 1, 1},
    {16, 2, {0, 0, 256 * BLOCK, 256 * BLOCK}, 32768, 32768, 1, 1},
    {16, 1, {0, 0, 256 * BLOCK + 1, 256 * BLOCK}, 32768, 32768, 2, 1},
    {16, 1, {-1, 0, 256 * BLOCK, 512 * BLOCK}, 32767, 32768, 2, 2},
    {16, 1, {-1, -1, 0, 0}, 32767, 32767, 1, 1},
    {26, 1, {0, 0, 1, 1}, 33554432, 33554432, 1, 1},
    {26, 1, {255, 0, 257, 256}, 33554432, 33554432, 2, 1},
    {0, 1, {ORIGIN - 1, ORIGIN, ORIGIN + 1, ORIGIN + 1}, -1, 0, 2, 1},
    {-26, 1, {ORIGIN, ORIGIN, 0, 0}, 0, 0, 1, 1},
    /* the whole plane: tiles that cross its limit do not exist */
    {-26, 1, {-LIMIT, -LIMIT, LIMIT, LIMIT}, -3, -3, 7, 7},
    {16, 1, {LIMIT - 512 * BLOCK, 0, LIMIT, 1}, (INT64_C(1) << 44) + 32766, 32768, 2, 1},
    {16, 1, {-LIMIT, 0, 512 * BLOCK - LIMIT, 1}, 32768 - (INT64_C(1) << 44), 32768, 2, 1},
};

START_TEST(test_boxes)
{
    const int64_t *given = boxes[_i].box;
    struct tile_box box = box_of(boxes[_i].zoom, boxes[_i].zoom);
    struct tile_plan *plan;
    struct farlands_grid grid;
    char why[TILE_PLAN_WHY] = "";
    box.scale = boxes[_i].scale;
    box.format = _i % 2 ? FORMAT_WEBP : FORMAT_PNG;
    box.whole = !given[0] && !given[1] && !given[2];
    for (int axis = 0; axis < 2; axis++) {
        box.least[axis] = given[axis];
        box.beyond[axis] = given[2 + axis];
    }
    ck_assert_msg(tile_plan_box(&plan, &box, why) == 0, "row %d: %s", _i, why);
    ck_assert_uint_eq(plan->part_count, 1);
    const struct tile_part *part = plan->part;
    ck_assert_msg(part->x == boxes[_i].x && part->y == boxes[_i].y,
                  "row %d: from %" PRId64 ", %" PRId64, _i, part->x, part->y);
    ck_assert_msg(part->width == boxes[_i].width && part->height == boxes[_i].height,
                  "row %d: %" PRId64 " x %" PRId64, _i, part->width, part->height);
    ck_assert_uint_eq(plan->directories, (uint64_t)part->width + 3);
    /* The first and the last tile exist. */
    struct tile_address tile;
    tile_plan_get(plan, 0, &tile);
    ck_assert_int_eq(tile_grid(&tile, &grid, NULL), 0);
    tile_plan_get(plan, tile_plan_count(plan) - 1, &tile);
    ck_assert_int_eq(tile_grid(&tile, &grid, NULL), 0);
    ck_assert_int_eq(tile.x, part->x + part->width - 1);
    ck_assert_int_eq(tile.y, part->y + part->height - 1);
    ck_assert_int_eq(tile.format, box.format);
    tile_plan_free(plan);
}
END_TEST

/* The first column, or with EAST the last column, of the plane exists, and none beyond it. */
static void check_edge(struct tile_box *box, bool east)
{
    const int64_t span = INT64_C(1) << (60 - 26 - box->zoom_min);
    struct farlands_grid grid;
    struct tile_plan *plan;
    struct tile_address tile;
    char why[TILE_PLAN_WHY];
    box->least[0] = east ? LIMIT - 2 * span : -LIMIT;
    box->beyond[0] = east ? LIMIT : -LIMIT + 2 * span;
    ck_assert_int_eq(tile_plan_box(&plan, box, why), 0);
    tile_plan_get(plan, east ? tile_plan_count(plan) - 1 : 0, &tile);
    must(tile_grid(&tile, &grid, NULL) == 0, "z %d @%d, %d: missing", tile.z, tile.scale, east);
    tile.x += east ? 1 : -1;
    must(tile_grid(&tile, &grid, NULL) != 0, "z %d @%d, %d: one too few", tile.z, tile.scale, east);
    tile_plan_free(plan);
}

/* For some of them the last sample of a tile lies on the limit. */
static const int64_t origins[] = {ORIGIN, ORIGIN + 1, ORIGIN + BLOCK, ORIGIN - BLOCK, 0, BLOCK / 2};

START_TEST(test_edges)
{
    struct world world = *worlds->world;
    struct world_config config = *world.config;
    struct tile_box box = box_of(0, 0);
    config.origin[0] = origins[_i];
    world.config = &config;
    box.world = &world;
    box.whole = false;
    box.beyond[1] = 1;
    for (int z = -26; z <= 26; z++)
        for (int scale = 1; scale <= 2 - (z == 26); scale++) {
            box.scale = scale;
            box.zoom_min = box.zoom_max = z;
            check_edge(&box, false);
            check_edge(&box, true);
        }
}
END_TEST

static const struct {
    int zoom_min, zoom_max, scale;
    bool boxed;
    int64_t box[4];
    int err;
    const char *why;
} wrong[] = {
    {3, 2, 1, false, {0}, -EINVAL, "--zoom: 3-2; expected a zoom, or A-B with A <= B"},
    {0, 27, 1, false, {0}, -EINVAL, "from -26 to 26"},
    {0, 26, 2, false, {0}, -EINVAL, "from -26 to 25 with --scale 2"},
    {-27, 0, 1, true, {0, 0, 1, 1}, -EINVAL, "-27-0"},
    {-1, 3, 1, false, {0}, -EINVAL, "needs a --bbox"},
    {0, 3, 1, true, {5, 0, 5, 9}, -EINVAL, "--bbox: x0 must be less than x1"},
    {0, 3, 1, true, {0, 9, 5, 8}, -EINVAL, "--bbox: y0 must be less than y1"},
    {26, 26, 1, true, {-LIMIT, -LIMIT, LIMIT, LIMIT}, -EOVERFLOW, "more than 2^62 tiles"},
    {-26, -26, 1, true, {LIMIT - 1, 0, LIMIT, 1}, -EINVAL, "no tiles at zoom -26"},
};

START_TEST(test_wrong)
{
    struct tile_box box = box_of(wrong[_i].zoom_min, wrong[_i].zoom_max);
    struct tile_plan *plan;
    char why[TILE_PLAN_WHY] = "";
    box.scale = wrong[_i].scale;
    box.whole = !wrong[_i].boxed;
    for (int axis = 0; axis < 2; axis++) {
        box.least[axis] = wrong[_i].box[axis];
        box.beyond[axis] = wrong[_i].box[2 + axis];
    }
    ck_assert_int_eq(tile_plan_box(&plan, &box, why), wrong[_i].err);
    ck_assert_msg(strstr(why, wrong[_i].why) != NULL, "%s", why);
}
END_TEST

enum { COLUMNS = 4096 };

/* The directories are at least those of the tiles up to TILE, and at most a few more. */
static void check_directories(const struct tile_plan *plan, uint64_t index, size_t number,
                              const struct tile_address *tile)
{
    static bool seen[COLUMNS];
    static uint64_t directories;
    static size_t last;
    const int64_t column = tile->x - plan->part[number].x;
    must(column < COLUMNS, "a part too wide to check");
    if (index == 0)
        directories = 0;
    if (index == 0 || last != number) {
        memset(seen, 0, sizeof seen);
        directories++;
    }
    last = number;
    directories += !seen[column];
    seen[column] = true;
    const uint64_t bound = tile_plan_directories(plan, index + 1);
    must(bound >= directories && (plan->of > 1 || bound <= directories + 20),
         "%" PRIu64 " directories after %" PRIu64 " tiles, not %" PRIu64, bound, index + 1,
         directories);
}

/* The tiles are within their parts and strictly ascending, so none repeats. */
static void check_order(const struct tile_plan *plan)
{
    struct tile_address before = {0}, tile;
    const uint64_t count = tile_plan_count(plan);
    for (uint64_t i = 0; i < count; i++, before = tile) {
        const size_t number = tile_plan_get(plan, i, &tile);
        const struct tile_part *part = &plan->part[number];
        check_directories(plan, i, number, &tile);
        must(tile.world == part->world && tile.layer == part->layer && tile.z == part->z &&
                 tile.scale == part->scale && tile.format == part->format,
             "tile %" PRIu64 ": of another part", i);
        must(tile.x >= part->x && tile.x < part->x + part->width && tile.y >= part->y &&
                 tile.y < part->y + part->height,
             "tile %" PRIu64 ": outside", i);
        if (i == 0 || tile.z != before.z || tile.layer != before.layer) {
            must(i == 0 || tile.z > before.z || (tile.z == before.z && tile.layer > before.layer),
                 "tile %" PRIu64 ": zoom %d after %d", i, tile.z, before.z);
            continue;
        }
        const int64_t keys[][2] = {{before.x >> 3, tile.x >> 3},
                                   {before.y >> 3, tile.y >> 3},
                                   {before.x, tile.x},
                                   {before.y, tile.y}};
        int key = 0;
        while (key < 3 && keys[key][0] == keys[key][1])
            key++;
        must(keys[key][0] < keys[key][1],
             "tile %" PRIu64 ": %" PRId64 ", %" PRId64 " after %" PRId64 ", %" PRId64, i, tile.x,
             tile.y, before.x, before.y);
    }
}

START_TEST(test_order)
{
    uint64_t state = 7;
    char why[TILE_PLAN_WHY];
    for (int round = 0; round < 300; round++) {
        struct tile_box box = box_of(13, 13 + chance_below(&state, 3));
        struct tile_plan *plan;
        uint64_t area = 0;
        box.whole = false;
        box.layer_count = 1 + chance_below(&state, 3);
        for (int i = 0; i < box.layer_count; i++)
            box.layer[i] = i;
        for (int axis = 0; axis < 2; axis++) {
            box.least[axis] = (chance_below(&state, 1 << 20) - (1 << 19)) * BLOCK;
            box.beyond[axis] = box.least[axis] + 1 + chance_below(&state, 40 * 2048) * BLOCK;
        }
        ck_assert_int_eq(tile_plan_box(&plan, &box, why), 0);
        for (size_t i = 0; i < plan->part_count; i++)
            area += (uint64_t)plan->part[i].width * (uint64_t)plan->part[i].height;
        must(tile_plan_count(plan) == area, "round %d: %" PRIu64, round, tile_plan_count(plan));
        check_order(plan);
        tile_plan_free(plan);
    }
}
END_TEST

/* Exact even with 2^54 tiles. */
START_TEST(test_huge)
{
    struct tile_box box = box_of(0, 26);
    struct tile_plan *plan;
    struct tile_address tile;
    char why[TILE_PLAN_WHY];
    ck_assert_int_eq(tile_plan_box(&plan, &box, why), 0);
    ck_assert_uint_eq(tile_plan_count(plan), ((UINT64_C(1) << 54) - 1) / 3);
    ck_assert_uint_eq(tile_plan_get(plan, tile_plan_count(plan) - 1, &tile), 26);
    ck_assert_int_eq(tile.x, (1 << 26) - 1);
    ck_assert_int_eq(tile.y, (1 << 26) - 1);
    ck_assert_uint_eq(tile_plan_directories(plan, tile_plan_count(plan)), plan->directories);
    ck_assert_uint_eq(tile_plan_get(plan, plan->part[26].before + (UINT64_C(8) << 26), &tile), 26);
    ck_assert_int_eq(tile.x, 8);
    ck_assert_int_eq(tile.y, 0);
    tile_plan_free(plan);
}
END_TEST

static const uint64_t shards[] = {1, 2, 3, 7, 64, 341, 1000};

START_TEST(test_shards)
{
    const uint64_t of = shards[_i];
    struct tile_box box = box_of(0, 4);
    struct tile_plan *plan;
    char why[TILE_PLAN_WHY];
    unsigned char seen[5][16][16] = {0};
    uint64_t sum = 0, least = UINT64_MAX, most = 0, parts = 0;
    ck_assert_int_eq(tile_plan_box(&plan, &box, why), 0);
    for (uint64_t shard = 0; shard < of; shard++) {
        tile_plan_shard(plan, shard, of);
        const uint64_t count = tile_plan_count(plan);
        check_order(plan);
        for (uint64_t i = 0; i < count; i++) {
            struct tile_address tile;
            tile_plan_get(plan, i, &tile);
            seen[tile.z][tile.x][tile.y]++;
        }
        for (size_t part = 0; part < plan->part_count; part++) {
            const uint64_t of_part = tile_plan_count_part(plan, part);
            parts += of_part;
            for (uint64_t i = 0; i < of_part; i++) {
                struct tile_address tile;
                tile_plan_get_in_part(plan, part, i, &tile);
                must(tile.z == plan->part[part].z, "part %zu: a tile of another part", part);
            }
        }
        sum += count;
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    ck_assert_uint_eq(sum, 341);
    ck_assert_uint_eq(parts, 341);
    ck_assert_msg(most - least <= 1, "uneven: %" PRIu64 " to %" PRIu64, least, most);
    for (int z = 0; z <= 4; z++)
        for (int x = 0; x < 1 << z; x++)
            for (int y = 0; y < 1 << z; y++)
                must(seen[z][x][y] == 1, "%d/%d/%d: in %d shards", z, x, y, seen[z][x][y]);
    tile_plan_free(plan);
}
END_TEST

static int read_bytes(struct tile_list *list, const char *text, size_t length,
                      char why[TILE_LIST_WHY])
{
    FILE *in = fmemopen((void *)(uintptr_t)text, length, "r");
    ck_assert_ptr_nonnull(in);
    int err = tile_list_read(list, in, worlds, why);
    fclose(in);
    return err;
}

static int read_text(struct tile_list *list, const char *text, char why[TILE_LIST_WHY])
{
    return read_bytes(list, text, strlen(text), why);
}

START_TEST(test_list)
{
    static const char text[] = "default/relief/3/1/7.png\n"
                               "\n"
                               "/default/relief/2/3/0.png?v=1\r\n"
                               "default:42/gray/2/-1/-9@2x.png\n"
                               "default/relief/3/1/7.png\n"
                               "default/relief/3/1/7.webp\n"
                               "default:42/gray/2/0/0.png\n"
                               "default:42/gray/2/0/0.png?border=1\n"
                               "default/relief/3/0/9.png";
    static const char *const expected[] = {
        "relief/2/3/0.png", "gray/2/-1/-9@2x.png", "gray/2/0/0.png",   "gray/2/0/0.png?border=1",
        "relief/3/1/7.png", "relief/3/0/9.png",    "relief/3/1/7.webp"};
    struct tile_list list;
    struct tile_plan *plan;
    char why[TILE_LIST_WHY] = "", path[TILE_PATH_MAX];
    unsigned found = 0;
    ck_assert_msg(read_text(&list, text, why) == 0, "%s", why);
    ck_assert_int_eq(tile_plan_list(&plan, list.tiles, list.count), 0);
    list.tiles = NULL;
    ck_assert_uint_eq(tile_plan_count(plan), ROWS(expected));
    ck_assert_uint_eq(plan->part_count, 6);
    ck_assert_uint_eq(plan->directories, 6 * 3 + 7);
    for (uint64_t i = 0; i < tile_plan_count(plan); i++) {
        struct tile_address tile;
        const size_t part = tile_plan_get(plan, i, &tile);
        tile_url(&tile, path);
        ck_assert_int_eq(plan->part[part].z, tile.z);
        ck_assert_str_eq(tile.world->name, path[0] == 'g' ? "default:42" : "default");
        for (int j = 0; j < ROWS(expected); j++)
            found |= (unsigned)(strcmp(path, expected[j]) == 0) << j;
    }
    ck_assert_uint_eq(found, (1u << ROWS(expected)) - 1);
    tile_plan_free(plan);
    tile_list_free(&list);
}
END_TEST

/* The order does not depend on the order of the list, nor on addresses of worlds. */
START_TEST(test_list_of_worlds)
{
    static const char *const texts[] = {
        "default:1/relief/0/0/0.png\ndefault:2/relief/0/0/0.png\ndefault/relief/0/0/0.png\n",
        "default:2/relief/0/0/0.png\ndefault/relief/0/0/0.png\ndefault:1/relief/0/0/0.png\n"};
    static const char *const expected[] = {"default", "default:1", "default:2"};
    for (int i = 0; i < ROWS(texts); i++) {
        struct tile_list list;
        struct tile_plan *plan;
        char why[TILE_LIST_WHY];
        ck_assert_int_eq(read_text(&list, texts[i], why), 0);
        ck_assert_int_eq(tile_plan_list(&plan, list.tiles, list.count), 0);
        list.tiles = NULL;
        for (int shard = 0; shard < ROWS(expected); shard++) {
            struct tile_address tile;
            tile_plan_shard(plan, (uint64_t)shard, ROWS(expected));
            tile_plan_get(plan, 0, &tile);
            must(strcmp(tile.world->name, expected[shard]) == 0, "shard %d of list %d: %s", shard,
                 i, tile.world->name);
        }
        tile_plan_free(plan);
        tile_list_free(&list);
    }
}
END_TEST

/* A list of a box's tiles in random order gives the box's plan. */
START_TEST(test_list_of_box)
{
    struct tile_box box = box_of(2, 5);
    struct tile_plan *plan, *listed;
    char why[TILE_PLAN_WHY];
    uint64_t state = 3;
    ck_assert_int_eq(tile_plan_box(&plan, &box, why), 0);
    const uint64_t count = tile_plan_count(plan);
    struct tile_address *tiles = calloc(count, sizeof *tiles);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t other = (uint64_t)chance_below(&state, (int)i + 1);
        tiles[i] = tiles[other];
        tile_plan_get(plan, i, &tiles[other]);
    }
    ck_assert_int_eq(tile_plan_list(&listed, tiles, count), 0);
    ck_assert_uint_eq(listed->part_count, plan->part_count);
    for (size_t part = 0; part < plan->part_count; part++) {
        const struct tile_part *a = &plan->part[part], *b = &listed->part[part];
        must(a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height &&
                 a->before == b->before && a->count == b->count,
             "part %zu differs", part);
    }
    for (uint64_t i = 0; i < count; i++) {
        struct tile_address a, b;
        tile_plan_get(plan, i, &a);
        tile_plan_get(listed, i, &b);
        must(tile_plan_directories(listed, i + 1) >= tile_plan_directories(plan, i + 1),
             "tile %" PRIu64 ": too few directories", i);
        must(a.z == b.z && a.x == b.x && a.y == b.y, "tile %" PRIu64 " differs", i);
    }
    tile_plan_free(plan);
    tile_plan_free(listed);
}
END_TEST

static const struct {
    const char *text, *why;
} wrong_lists[] = {
    {"default/relief/1/0/0.png\nnowhere/relief/1/0/0.png\n", "line 2: world: no world \"nowhere\""},
    {"\n\ndefault/relief/1/0/x.png\n", "line 3: y: \"x\""},
    {"default/relief/27/0/0.png", "line 1: z: 27"},
    {"default/relief/1/0/0.png\ndefault.json\n", "line 2: a tile is {world}"},
    {"default/relief/1/0\n", "line 1: "},
    {"default/height/1/0/0.f32\n", "line 1: extension: \"f32\""},
    {"default/height/1/0/0.r16\n", "never cached; expected png or webp"},
    {"default/terrarium/1/0/0.webp\n", "extension: layer terrarium has no \"webp\""},
    {"default:/height/1/0/0.png\n", "line 1: "},
    {"# a comment\n", "line 1: "},
    {"\n\r\n", "no paths; expected one per line"},
    {"http://127.0.0.1/default/relief/1/0/0.png\n", "line 1: "},
};

START_TEST(test_wrong_lists)
{
    struct tile_list list;
    char why[TILE_LIST_WHY] = "";
    ck_assert_int_eq(read_text(&list, wrong_lists[_i].text, why), -EINVAL);
    ck_assert_msg(strstr(why, wrong_lists[_i].why) != NULL, "%s: %s", wrong_lists[_i].text, why);
}
END_TEST

/* Lines with a NUL byte, and lines that are too long. */
START_TEST(test_lines)
{
    static const char hidden[] = "default/relief/1/0/0.png\n\0default/relief/1/0/1.png\n",
                      cut[] = "default/relief/1/0/0.png\0default/relief/1/0/1.png\n";
    enum { LONGEST = 8191 };
    char line[LONGEST + 1], why[TILE_LIST_WHY] = "";
    struct tile_list list;
    ck_assert_int_eq(read_bytes(&list, hidden, sizeof hidden - 1, why), -EINVAL);
    ck_assert_msg(strstr(why, "line 2: contains a NUL byte") != NULL, "%s", why);
    ck_assert_int_eq(read_bytes(&list, cut, sizeof cut - 1, why), -EINVAL);
    ck_assert_msg(strstr(why, "line 1: contains a NUL byte") != NULL, "%s", why);
    memset(line, 'a', sizeof line);
    ck_assert_int_eq(read_bytes(&list, line, LONGEST + 1, why), -EINVAL);
    ck_assert_msg(strstr(why, "line 1: longer than 8191 bytes") != NULL, "%s", why);
    ck_assert_int_eq(read_bytes(&list, line, LONGEST, why), -EINVAL);
    ck_assert_msg(strstr(why, "line 1: a tile is") != NULL, "%s", why);
}
END_TEST

START_TEST(test_many_worlds)
{
    enum { LINE = 40 };
    static char text[(TILE_LIST_WORLDS + 1) * LINE];
    char why[TILE_LIST_WHY] = "";
    struct tile_list list;
    size_t length = 0, fitting = 0;
    for (int i = 0; i <= TILE_LIST_WORLDS; i++) {
        fitting = length;
        length += (size_t)snprintf(text + length, LINE, "default:%d/relief/0/0/0.png\n", i);
    }
    ck_assert_int_eq(read_bytes(&list, text, length, why), -EINVAL);
    ck_assert_msg(strstr(why, "line 16385: more than 16384 worlds") != NULL, "%s", why);
    ck_assert_int_eq(read_bytes(&list, text, fitting, why), 0);
    ck_assert_uint_eq(list.count, TILE_LIST_WORLDS);
    tile_list_free(&list);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("tile_plan");
    TCase *tcase = suite_case(suite, "tile_plan");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_boxes, 0, ROWS(boxes));
    tcase_add_loop_test(tcase, test_edges, 0, ROWS(origins));
    tcase_add_loop_test(tcase, test_wrong, 0, ROWS(wrong));
    tcase_add_test(tcase, test_order);
    tcase_add_test(tcase, test_huge);
    tcase_add_loop_test(tcase, test_shards, 0, ROWS(shards));
    tcase_add_test(tcase, test_list);
    tcase_add_test(tcase, test_list_of_worlds);
    tcase_add_test(tcase, test_list_of_box);
    tcase_add_loop_test(tcase, test_wrong_lists, 0, ROWS(wrong_lists));
    tcase_add_test(tcase, test_lines);
    tcase_add_test(tcase, test_many_worlds);
    return suite;
}

int main(void)
{
    return suite_run(suite());
}
