/* Tiles stored in batches: all of them, soon, within the quota; and what a batch leaves in the
 * ledger. */
#include "server/cache/tile_writer.h"

#include <errno.h>
#include <pthread.h>
#include <uv.h>

#include "tests/unit/support/cache_fixtures.h"

static char directory[FOLDER_TEXT];
static struct worlds *worlds;
static struct disk_cache *cache;
static struct memory_cache *memory;
static struct tile_address tile;
static struct blob *png; /* need not be a PNG */

static const struct footprint plenty = {UINT64_C(1) << 30, 100000};

static int stored, refused, failed; /* atomic */

/* While the writer calls back, no file is written, so that a walk counts no file that takes the
 * place of a counted one. */
static const struct footprint *limit; /* of what every twentieth callback finds on the disk */
static struct footprint excess;       /* the last that it found above the limit */

/* A slow disk: what each tile takes by the clock; the first one waits for the gate. */
static struct clock time_held = {.ns = NS_PER_MS}; /* moved by the tests alone */
static unsigned tile_ms;
static uv_sem_t *gate, at_gate;

static int total(void)
{
    return __atomic_load_n(&stored, __ATOMIC_RELAXED) +
           __atomic_load_n(&refused, __ATOMIC_RELAXED) + __atomic_load_n(&failed, __ATOMIC_RELAXED);
}

static void count(void *context, int err)
{
    int *counter = !err ? &stored : err == -EDQUOT ? &refused : &failed;
    (void)context;
    if (gate) {
        uv_sem_post(&at_gate);
        uv_sem_wait(gate);
        gate = NULL;
    }
    clock_advance(&time_held, tile_ms * NS_PER_MS);
    if (limit && total() % 20 == 10) {
        const struct footprint use = directory_usage(directory);
        if (!footprint_fits(use, *limit))
            excess = use;
    }
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void set_up(void)
{
    folder_new(directory);
    worlds = worlds_of(FRACTAL_WORLD);
    tile = (struct tile_address){
        worlds->world, layer_find("relief"), FORMAT_PNG, 1, 0, 0, 0, false, 0, false};
    png = blob_new(12000);
    memset(png->bytes, 7, png->length);
    ck_assert_int_eq(memory_cache_new(&memory, 0), 0);
    stored = refused = failed = 0;
    limit = NULL;
    excess = (struct footprint){0};
}

static void tear_down(void)
{
    disk_cache_close(cache);
    memory_cache_free(memory);
    ck_assert_uint_eq(png->references, 1);
    blob_release(png);
    worlds_release(worlds);
    folder_remove(directory);
}

static struct tile_writer *open_writer(struct footprint quota)
{
    struct tile_writer *writer;
    ck_assert_int_eq(disk_cache_open(&cache, directory, &quota, NULL, NULL), 0);
    const struct tile_writer_options options = {
        .cache = cache, .memory = memory, .stored = count, .clock = &time_held};
    ck_assert_int_eq(tile_writer_new(&writer, &options), 0);
    return writer;
}

static void close_writer(struct tile_writer *writer)
{
    ck_assert(tile_writer_stop(writer, 20000));
    tile_writer_free(writer);
}

static void put_tile(struct tile_writer *writer, const struct tile_address *other,
                     struct blob *blob)
{
    char key[TILE_KEY_MAX];
    tile_key(other, key);
    if (!tile_writer_offer(writer, key, blob))
        tile_writer_store(writer, key, blob);
}

static bool exists(int number)
{
    char path[1024];
    struct tile_address other = tile_number(&tile, number);
    return file_exists(tile_file(directory, &other, path));
}

/* The ledger is exact but for the entries of directories, once no batch is written. */
static void check_ledger(void)
{
    const struct footprint truth = directory_usage(directory);
    struct footprint used;
    ck_assert(disk_cache_usage(cache, &used));
    ck_assert_uint_eq(used.files, truth.files);
    ck_assert(used.bytes >= truth.bytes && used.bytes <= truth.bytes + 80 * used.files);
}

/* A tile alone is stored soon; what is queued at the end, too. */
START_TEST(test_soon)
{
    struct tile_writer *writer = open_writer(plenty);
    for (int i = 0; i < 3; i++) {
        struct tile_address other = tile_number(&tile, i);
        put_tile(writer, &other, png);
        while (total() == i)
            uv_sleep(1);
        must(exists(i), "tile %d", i);
    }
    for (int i = 3; i < 40; i++) {
        struct tile_address other = tile_number(&tile, i);
        put_tile(writer, &other, png);
    }
    close_writer(writer);
    for (int i = 0; i < 40; i++)
        must(exists(i), "tile %d", i);
    ck_assert_int_eq(stored, 40);
    check_ledger();
}
END_TEST

enum { THREADS = 4, EACH = 700 }; /* more than a batch has */

static struct tile_writer *shared;

static void *put_many(void *context)
{
    for (int i = 0; i < EACH; i++) {
        struct tile_address other = tile_number(&tile, *(int *)context * EACH + i);
        put_tile(shared, &other, png);
    }
    return NULL;
}

/* Threads that are faster than the writer store tiles themselves. None is lost. */
START_TEST(test_flood)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];

    shared = open_writer(plenty);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, put_many, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    close_writer(shared);
    ck_assert_int_eq(stored, THREADS * EACH);
    for (int i = 0; i < THREADS * EACH; i++)
        must(exists(i), "tile %d", i);
    check_ledger();
}
END_TEST

static const struct footprint quotas[] = {
    {1 << 20, 100000}, {1 << 22, 100000}, {UINT64_C(1) << 30, 100}, {UINT64_C(1) << 30, 1000}};

/* Wait for the writer to be done with COUNT tiles. For a writer that waits for an eviction no time
 * passes before that has made room, however busy the machine is. */
static void wait_for_writer(int count)
{
    const struct footprint size = footprint_of_file(png->length);
    for (int looks = 0; total() < count; looks++) {
        uv_sleep(1);
        if (disk_cache_has_room(cache, size) || looks > 20000)
            clock_advance(&time_held, 100 * NS_PER_MS);
    }
}

/* However small the quota is, it is not exceeded at any sample, and tiles are refused only now and
 * then, since batches wait for evictions. */
START_TEST(test_quota)
{
    limit = &quotas[_i];
    struct tile_writer *writer = open_writer(quotas[_i]);
    for (int i = 0; i < 1500; i++) {
        struct tile_address other = tile_number(&tile, i);
        put_tile(writer, &other, png);
        if (i % 20 == 0)
            wait_for_writer(i + 1);
    }
    wait_for_writer(1500);
    close_writer(writer);
    must(excess.files == 0, "%ju bytes, %ju files", (uintmax_t)excess.bytes,
         (uintmax_t)excess.files);
    ck_assert_int_eq(total(), 1500);
    ck_assert_int_eq(failed, 0);
    must(stored > 1000, "%d tiles of 1500 stored, %d refused; expected more than 1000 stored",
         stored, refused);
}
END_TEST

/* Tiles that are not stored yet are in the memory cache, which keeps nothing else: its budget is 0.
 */
START_TEST(test_waiting_tiles)
{
    enum { WAITING = 60 };
    uv_sem_t first;

    uv_sem_init(&first, 0);
    uv_sem_init(&at_gate, 0);
    gate = &first;
    struct tile_writer *writer = open_writer(plenty);
    for (int i = 0; i < WAITING; i++) {
        struct tile_address other = tile_number(&tile, i);
        put_tile(writer, &other, png);
        if (i == WAITING / 2)
            uv_sem_wait(&at_gate); /* so that the thread has a batch, and another one begins */
    }
    for (int i = 0; i < WAITING; i++) {
        struct tile_address other = tile_number(&tile, i);
        struct blob *found = memory_cache_get(memory, KEY_OF(&other));
        must(found == png, "tile %d", i);
        blob_release(found);
    }
    struct tile_address unknown = tile_number(&tile, WAITING);
    ck_assert_ptr_null(memory_cache_get(memory, KEY_OF(&unknown)));
    uv_sem_post(&first);
    while (__atomic_load_n(&png->references, __ATOMIC_RELAXED) > 1)
        uv_sleep(1);
    for (int i = 0; i < WAITING; i++) {
        struct tile_address other = tile_number(&tile, i);
        ck_assert_ptr_null(memory_cache_get(memory, KEY_OF(&other)));
    }
    close_writer(writer);
    ck_assert_int_eq(stored, WAITING);
    uv_sem_destroy(&first);
    uv_sem_destroy(&at_gate);
}
END_TEST

/* A disk that is too slow for all that waits does not make the end hang, and leaves nothing
 * behind. */
START_TEST(test_slow_end)
{
    enum { WAITING = 200 };
    uv_sem_t first;

    uv_sem_init(&first, 0);
    uv_sem_init(&at_gate, 0);
    gate = &first;
    tile_ms = 30;
    struct tile_writer *writer = open_writer(plenty);
    ck_assert_uint_eq(tile_writer_run_ms(writer), 0);
    for (int i = 0; i < WAITING; i++) {
        struct tile_address other = tile_number(&tile, i);
        put_tile(writer, &other, png);
    }
    uv_sem_wait(&at_gate);
    clock_advance(&time_held, 15 * NS_PER_MS);
    ck_assert_uint_eq(tile_writer_run_ms(writer), 15);
    ck_assert(!tile_writer_stop(writer, 90)); /* the thread is busy with a tile */
    uv_sem_post(&first);
    tile_writer_free(writer);
    ck_assert_int_eq(stored, 2); /* for 60 ms, two thirds of 90 */
    uv_sem_destroy(&first);
    uv_sem_destroy(&at_gate);
    int files = 0;
    for (int i = 0; i < WAITING; i++)
        files += exists(i);
    ck_assert_int_eq(files, stored);
    check_ledger();
}
END_TEST

/* A batch reserves ahead, and returns what it has not used; a process that is killed leaves it to
 * the next count. */
START_TEST(test_ahead)
{
    struct disk_cache_batch batch;
    char key[TILE_KEY_MAX];
    struct footprint used, before;

    struct tile_writer *writer = open_writer(plenty);
    close_writer(writer);
    ck_assert(disk_cache_usage(cache, &before));
    disk_cache_begin(&batch, cache, disk_cache_ahead(20 * png->length, 20));
    for (int i = 0; i < 20; i++) {
        struct tile_address other = tile_number(&tile, i / 2); /* half of them replace another */
        ck_assert_int_eq(disk_cache_add(&batch, tile_key(&other, key), png), 0);
        ck_assert(disk_cache_usage(cache, &used));
        ck_assert_uint_eq(used.bytes, before.bytes + batch.ahead.bytes);
        ck_assert(footprint_fits(directory_usage(directory), used));
    }
    disk_cache_end(&batch);
    check_ledger();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tile writer");
    TCase *tcase = suite_case(suite, "tile writer");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_soon);
    tcase_add_test(tcase, test_flood);
    tcase_add_loop_test(tcase, test_quota, 0, (int)(sizeof quotas / sizeof quotas[0]));
    tcase_add_test(tcase, test_waiting_tiles);
    tcase_add_test(tcase, test_slow_end);
    tcase_add_test(tcase, test_ahead);
    return suite_run(suite);
}
