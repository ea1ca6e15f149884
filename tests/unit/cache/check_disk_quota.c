/* The disk cache's quota: not exceeded at any sample; and which tiles are evicted. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <zlib.h>

#include "server/png/image_writer.h"
#include "tests/unit/support/cache_fixtures.h"

static char directory[FOLDER_TEXT];
static struct worlds *worlds;
static struct disk_cache *cache;
static struct tile_address tile;
static struct blob *png; /* 12 KiB; need not be a PNG */

static const struct footprint plenty = {UINT64_C(1) << 30, 100000};

static void set_up(void)
{
    folder_new(directory);
    worlds = worlds_of(FRACTAL_WORLD);
    tile = (struct tile_address){
        worlds->world, layer_find("relief"), FORMAT_PNG, 1, 0, 0, 0, false, 0, false};
    png = blob_new(12000);
    memset(png->bytes, 7, png->length);
}

static void tear_down(void)
{
    disk_cache_close(cache);
    blob_release(png);
    worlds_release(worlds);
    folder_remove(directory);
}

static void open_with(struct footprint quota)
{
    disk_cache_close(cache);
    cache = NULL;
    ck_assert_int_eq(disk_cache_open(&cache, directory, &quota, NULL, NULL), 0);
}

static int put_number(int number)
{
    struct tile_address other = tile_number(&tile, number);
    return disk_cache_put(cache, KEY_OF(&other), png);
}

static char *path_of(int number, char path[1024])
{
    struct tile_address other = tile_number(&tile, number);
    return tile_file(directory, &other, path);
}

static bool exists(int number)
{
    char path[1024];
    return file_exists(path_of(number, path));
}

static uint64_t used_bytes(void)
{
    struct footprint used;
    return disk_cache_usage(cache, &used) ? used.bytes : UINT64_MAX;
}

static uint64_t used_files(void)
{
    struct footprint used;
    return disk_cache_usage(cache, &used) ? used.files : UINT64_MAX;
}

/* --- The ledger ----------------------------------------------------------- */

/* Puts of new and of existing tiles are counted exactly, except for the bytes of directory entries.
 */
START_TEST(test_counted)
{
    open_with(plenty);
    uint64_t length = png->length;
    for (int i = 0; i < 300; i++) {
        png->length = (size_t)(1 + i * 37 % (int)length);
        ck_assert_int_eq(put_number(i % 200), 0);
        struct footprint truth = directory_usage(directory), used;
        ck_assert(disk_cache_usage(cache, &used));
        must(used.files == truth.files, "%d: %ju files, not %ju", i, (uintmax_t)used.files,
             (uintmax_t)truth.files);
        must(used.bytes >= truth.bytes && used.bytes <= truth.bytes + 80 * used.files,
             "%d: %ju bytes, not %ju", i, (uintmax_t)used.bytes, (uintmax_t)truth.bytes);
    }
    png->length = length;
}
END_TEST

/* A smaller tile replaces a larger one: no more is released than was reserved. */
START_TEST(test_shrunk)
{
    struct footprint used;
    open_with(plenty);
    ck_assert_int_eq(put_number(0), 0);
    uint64_t before = used_bytes();
    png->length = 100;
    ck_assert_int_eq(put_number(0), 0);
    ck_assert_int_eq(put_number(0), 0);
    ck_assert(disk_cache_usage(cache, &used));
    ck_assert(footprint_fits(directory_usage(directory), used));
    ck_assert_uint_eq(used.files, directory_usage(directory).files);
    ck_assert_uint_eq(used.bytes, before);
}
END_TEST

/* After a restart of the process the ledger is valid, and nothing is counted. */
START_TEST(test_restart)
{
    char path[1024];
    open_with(plenty);
    for (int i = 0; i < 50; i++)
        ck_assert_int_eq(put_number(i), 0);
    uint64_t bytes = used_bytes();
    remove(path_of(3, path)); /* a count would notice */
    open_with(plenty);
    ck_assert_uint_eq(used_bytes(), bytes);
    ck_assert_int_eq(put_number(51), 0);
}
END_TEST

enum { MISSING, EMPTY, SHORT, CHANGED, OTHER_BOOT, DAMAGES };

static void damage_ledger(int damage)
{
    char path[FOLDER_TEXT + 16];
    uint64_t checksum;
    snprintf(path, sizeof path, "%s/" QUOTA_FILE, directory);
    struct blob *ledger = file_read(path);
    switch (damage) {
    case MISSING:
        remove(path);
        break;
    case EMPTY:
        file_write(path, "", 0);
        break;
    case SHORT:
        file_write(path, ledger->bytes, ledger->length - 1);
        break;
    case CHANGED:
        ck_assert_uint_ne(ledger->bytes[58], 0);
        ledger->bytes[58] = 0; /* in used.bytes: too little */
        file_write(path, ledger->bytes, ledger->length);
        break;
    default: /* valid, but of another boot */
        ledger->bytes[8] ^= 1;
        checksum = crc32(0, ledger->bytes, (uInt)(ledger->length - sizeof checksum));
        memcpy(ledger->bytes + ledger->length - sizeof checksum, &checksum, sizeof checksum);
        file_write(path, ledger->bytes, ledger->length);
    }
    blob_release(ledger);
}

/* An invalid ledger: nothing is stored until everything has been counted. */
START_TEST(test_invalid)
{
    char path[1024];
    open_with(plenty);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(put_number(i), 0);
    uint64_t bytes = used_bytes();
    disk_cache_close(cache);
    cache = NULL;
    for (int i = 0; i < 50; i++)
        remove(path_of(i, path)); /* a count notices */
    damage_ledger(_i);
    open_with(plenty);
    ck_assert_msg(soon(put_number(70) == 0), "damage %d: nothing is stored", _i);
    struct footprint truth = directory_usage(directory), used;
    ck_assert(disk_cache_usage(cache, &used));
    ck_assert_msg(footprint_fits(truth, used) && used.bytes < bytes * 6 / 10,
                  "damage %d: %ju of %ju bytes, %ju of %ju files", _i, (uintmax_t)used.bytes,
                  (uintmax_t)truth.bytes, (uintmax_t)used.files, (uintmax_t)truth.files);
}
END_TEST

/* The same while the cache is open. */
START_TEST(test_invalid_while_open)
{
    open_with(plenty);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(put_number(i), 0);
    uint64_t bytes = used_bytes();
    damage_ledger(_i);
    int err = put_number(100);
    ck_assert_msg(err == -EDQUOT || err == 0, "damage %d: %d", _i, err);
    ck_assert_msg(soon(put_number(101) == 0), "damage %d: nothing is stored", _i);
    ck_assert_uint_ge(used_bytes(), bytes);
    ck_assert_uint_ge(used_files(), directory_usage(directory).files);
}
END_TEST

/* A directory full of tiles without a ledger. */
START_TEST(test_without_ledger)
{
    char path[FOLDER_TEXT + 16];
    open_with(plenty);
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(put_number(i), 0);
    disk_cache_close(cache);
    cache = NULL;
    snprintf(path, sizeof path, "%s/" QUOTA_FILE, directory);
    remove(path);
    struct footprint half = directory_usage(directory);
    half.bytes /= 2;
    open_with(half);
    ck_assert(soon(used_bytes() <= half.bytes));
    ck_assert_uint_le(directory_usage(directory).bytes, half.bytes);
    ck_assert(soon(put_number(500) == 0));
}
END_TEST

/* --- Eviction ------------------------------------------------------------------- */

enum { TILES = 400 };

/* Store TILES tiles, each used a minute before the next, by a clock that is SHIFT seconds slow. */
static void fill_with_ages(long shift)
{
    char path[1024];
    open_with(plenty);
    for (int i = 0; i < TILES; i++) {
        /* Not in the order of the walk. */
        int number = i * 149 % TILES;
        ck_assert_int_eq(put_number(number), 0);
        file_age(path_of(number, path), shift + (TILES - i) * 60L);
    }
}

static void shrink(unsigned percent)
{
    struct footprint used;
    ck_assert(disk_cache_usage(cache, &used));
    used.bytes = used.bytes * percent / 100;
    disk_cache_limit(cache, &used);
    ck_assert(soon(used_bytes() <= used.bytes * 95 / 100));
    pause_ms(50);
    ck_assert_uint_le(directory_usage(directory).bytes, used.bytes);
}

static const struct {
    const char *what;
    long shift;
} clocks[] = {
    {"right", 0},
    {"a year ahead", 365 * 86400L},
    {"a year behind", -365 * 86400L},
    {"at the beginning of time", 1700000000L},
};

/* The tiles used longest ago are evicted, and no more than necessary. */
START_TEST(test_oldest_first)
{
    fill_with_ages(clocks[_i].shift);
    uint64_t before = used_bytes();
    shrink(60);
    ck_assert_msg(used_bytes() >= before * 52 / 100, "clock %s: mass expiry", clocks[_i].what);
    int gone = 0;
    for (int i = 0; i < TILES; i++)
        gone += !exists(i * 149 % TILES);
    for (int i = 0; i < TILES; i++) {
        bool there = exists(i * 149 % TILES);
        /* Except for tiles of the cut-off age. */
        must(i < gone - 1   ? !there
             : i > gone + 1 ? there
                            : true,
             "clock %s: %d of %d evicted, tile there: %d", clocks[_i].what, i, gone, there);
    }
}
END_TEST

/* No more than necessary, even if all tiles have the same age. */
START_TEST(test_same_age)
{
    char path[1024];
    const struct timespec one[2] = {{1700000000, 5}, {1700000000, 5}};
    fill_with_ages(0);
    for (int i = 0; i < TILES; i++)
        ck_assert_int_eq(utimensat(AT_FDCWD, path_of(i, path), one, 0), 0);
    uint64_t before = used_bytes();
    shrink(60);
    ck_assert_uint_ge(used_bytes(), before * 52 / 100);
}
END_TEST

/* After the clock was set back: tiles used since are kept, tiles from the future are evicted. */
START_TEST(test_future)
{
    char path[1024];
    fill_with_ages(-365 * 86400L);
    for (int i = 0; i < 100; i++)
        file_age(path_of(i, path), 0);
    shrink(60);
    for (int i = 0; i < 100; i++)
        ck_assert_msg(exists(i), "%d", i);
}
END_TEST

static bool is_not(void *context, const char *fingerprint)
{
    return strcmp(context, fingerprint) != 0;
}

/* Fingerprints that are not served are evicted first, however recently used. */
START_TEST(test_not_current)
{
    char path[1024];
    struct worlds *others = worlds_of_text("worlds: [{name: a, seed: 99}]");
    ck_assert_int_eq(disk_cache_open(&cache, directory, &plenty, is_not,
                                     others->world[0].fingerprints.tile[tile.layer]),
                     0);
    for (int i = 0; i < TILES; i++) {
        ck_assert_int_eq(put_number(i), 0);
        file_age(path_of(i, path), 86400);
    }
    tile.world = others->world;
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(put_number(i), 0);
    shrink(75);
    int left = 0;
    for (int i = 0; i < 100; i++)
        left += exists(i);
    tile.world = worlds->world;
    for (int i = 0; i < 100 && left; i++)
        ck_assert_msg(exists(i), "%d evicted before %d that are not served", i, left);
    disk_cache_close(cache);
    cache = NULL;
    worlds_release(others);
}
END_TEST

static const char *const foreign[] = {
    "notes.txt",
    ".usage.bak",
    "0123456789abcdef.tar",
    "0123456789abcdeg/relief/1/1/1.png",
    "0123456789ABCDEF/relief/1/1/1.png",
    "0123456789abcde/relief/1/1/1.png",
    "0123456789abcdef/note",
    "0123456789abcdef/holidays/1/1/1.png",
    "0123456789abcdef/relief/note",
    "0123456789abcdef/relief/+1/1/1.png",
    "0123456789abcdef/relief/01/1/1.png",
    "0123456789abcdef/relief/-0/1/1.png",
    "0123456789abcdef/relief/65/1/1.png",
    "0123456789abcdef/relief/1/1x/1.png",
    "0123456789abcdef/relief/1/9223372036854775808/1.png",
    "0123456789abcdef/relief/1/1/1.jpg",
    "0123456789abcdef/relief/1/1/1.png.bak",
    "0123456789abcdef/relief/1/1/1@3x.png",
    "0123456789abcdef/relief/1/1/01.png",
    "0123456789abcdef/relief/1/1/ 1.png",
    "0123456789abcdef/relief/1/1/2.png/below",
};

static void file_below(const char *where, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", where, name);
    for (char *slash = path + strlen(where) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0777);
    }
    file_write(path, "foreign", 7);
}

/* Foreign files stay and are not counted, even if all tiles are evicted. */
START_TEST(test_foreign)
{
    char path[1024], outside[FOLDER_TEXT + 32];
    for (int i = 0; i < ROWS(foreign); i++)
        file_below(directory, foreign[i]);
    /* And a link to another directory of tiles. */
    snprintf(outside, sizeof outside, "%s-outside", directory);
    mkdir(outside, 0777);
    snprintf(path, sizeof path, "%s/relief", outside);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/fedcba9876543210", directory);
    ck_assert_int_eq(symlink(outside, path), 0);
    snprintf(path, sizeof path, "%s/relief/1", outside);
    ck_assert_int_eq(symlink(outside, path), 0);
    file_below(outside, "relief/2/3/4.png");

    open_with(plenty);
    for (int i = 0; i < 50; i++)
        ck_assert_msg(soon(put_number(i) == 0), "%d", i);
    disk_cache_limit(cache, &(struct footprint){1, 1});
    char tiles[1024];
    snprintf(tiles, sizeof tiles, "%s/%s", directory, worlds->world->fingerprints.tile[tile.layer]);
    ck_assert(soon(!file_exists(tiles)));
    for (int i = 0; i < ROWS(foreign); i++) {
        snprintf(path, sizeof path, "%s/%s", directory, foreign[i]);
        ck_assert_msg(file_exists(path), "%s", foreign[i]);
    }
    snprintf(path, sizeof path, "%s/fedcba9876543210/relief/2/3/4.png", directory);
    ck_assert(file_exists(path));
    folder_remove(outside);
}
END_TEST

/* A link in the place of a tile's directory: nothing is stored through it. */
START_TEST(test_link)
{
    char path[1024], outside[FOLDER_TEXT + 32];
    snprintf(outside, sizeof outside, "%s-outside", directory);
    mkdir(outside, 0777);
    open_with(plenty);
    snprintf(path, sizeof path, "%s/%s", directory, worlds->world->fingerprints.tile[tile.layer]);
    ck_assert_int_eq(symlink(outside, path), 0);
    ck_assert_int_eq(put_number(1), -ELOOP);
    ck_assert_int_eq(put_number(1), -ELOOP); /* the breaker stays closed */
    ck_assert_uint_eq(directory_usage(outside).files, 1);
    folder_remove(outside);
}
END_TEST

static pid_t start_flooder(int seed, struct footprint quota)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    uint64_t state = (uint64_t)seed;
    struct disk_cache *own;
    if (disk_cache_open(&own, directory, &quota, NULL, NULL))
        _exit(1);
    for (;;) {
        struct tile_address other = tile_number(&tile, chance_below(&state, 8000));
        int err = disk_cache_put(own, KEY_OF(&other), png);
        if (err && err != -EDQUOT)
            _exit(1);
        if (seed % 2)
            usleep(200);
    }
}

/* Temporary files of dead processes are deleted at start, whatever their age; others stay. */
START_TEST(test_temporaries)
{
    struct disk_cache *next;
    char path[1024];
    snprintf(path, sizeof path, "%s/.new-0123456789abcdef-7", directory);
    file_write(path, "torn", 4);
    pid_t child = start_flooder(0, plenty); /* before this process has threads */
    ck_assert(soon(!file_exists(path)));
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(disk_cache_open(&next, directory, &plenty, NULL, NULL), 0);
        pause_ms(5);
        disk_cache_close(next);
    }
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    /* None of its temporary files was deleted: otherwise it would have exited by itself. */
    ck_assert(WIFSIGNALED(status));
}
END_TEST

/* --- Under load --------------------------------------------------------------- */

/* The largest usage of the directory, and the number of samples. */
struct samples {
    struct footprint most;
    int count;
};

/* Sample the directory while all processes are stopped: a file renamed meanwhile might count twice.
 */
static void sample(struct samples *samples, const pid_t *processes, int count)
{
    int status;
    for (int i = 0; i < count; i++) {
        kill(processes[i], SIGSTOP);
        waitpid(processes[i], &status, WUNTRACED);
        if (!WIFSTOPPED(status))
            return;
    }
    struct footprint truth = directory_usage(directory);
    samples->most.bytes = truth.bytes > samples->most.bytes ? truth.bytes : samples->most.bytes;
    samples->most.files = truth.files > samples->most.files ? truth.files : samples->most.files;
    samples->count++;
    for (int i = 0; i < count; i++)
        kill(processes[i], SIGCONT);
}

static void must_fit(const struct samples *samples, struct footprint quota)
{
    ck_assert_int_gt(samples->count, 3);
    ck_assert_msg(footprint_fits(samples->most, quota), "%ju of %ju bytes, %ju of %ju files",
                  (uintmax_t)samples->most.bytes, (uintmax_t)quota.bytes,
                  (uintmax_t)samples->most.files, (uintmax_t)quota.files);
}

static const struct {
    struct footprint quota;
    int pause_us; /* after each put: less than a render takes */
} floods[] = {
    {{1 << 20, 100000}, 500}, {{8 << 20, 100000}, 200}, {{1 << 30, 100}, 500},
    {{1 << 30, 1000}, 200},   {{1 << 20, 100000}, 0},
};

enum { FLOODERS = 2, FLOOD = 1500, SAMPLES = 10 };

static struct {
    atomic_int stored, refused, failed, ended, samples;
} * score; /* shared with the flooding process */

static void *flood(void *context)
{
    int self = (int)(intptr_t)context;
    uint64_t state = (uint64_t)self;
    int pause = floods[self / FLOODERS].pause_us;
    /* However fast it is, it lasts for SAMPLES samples. */
    for (int i = 0; i < FLOOD || atomic_load(&score->samples) < SAMPLES; i++) {
        int err = put_number(chance_below(&state, 8000));
        atomic_fetch_add(err == 0         ? &score->stored
                         : err == -EDQUOT ? &score->refused
                                          : &score->failed,
                         1);
        if (pause)
            usleep((useconds_t)pause);
    }
    atomic_fetch_add(&score->ended, 1);
    return NULL;
}

static pid_t start_flood(int row)
{
    pthread_t threads[FLOODERS];
    pid_t child = fork();
    if (child != 0)
        return child;
    if (disk_cache_open(&cache, directory, &floods[row].quota, NULL, NULL))
        _exit(1);
    for (intptr_t i = 0; i < FLOODERS; i++)
        pthread_create(&threads[i], NULL, flood, (void *)(row * FLOODERS + i));
    for (int i = 0; i < FLOODERS; i++)
        pthread_join(threads[i], NULL);
    for (;;)
        pause();
}

/* A flood of tiles exceeds the quota at no sample, and most tiles are stored. */
START_TEST(test_flood)
{
    struct samples samples = {0};
    score = mmap(NULL, sizeof *score, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = start_flood(_i);
    while (atomic_load(&score->ended) < FLOODERS) {
        pause_ms(5);
        sample(&samples, &child, 1);
        atomic_store(&score->samples, samples.count);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    must_fit(&samples, floods[_i].quota);
    int stored = atomic_load(&score->stored);
    printf("flood %d: %d stored, %d refused, %d samples, at most %ju bytes, %ju files\n", _i,
           stored, atomic_load(&score->refused), samples.count, (uintmax_t)samples.most.bytes,
           (uintmax_t)samples.most.files);
    ck_assert_int_eq(atomic_load(&score->failed), 0);
    ck_assert_int_gt(stored, floods[_i].pause_us ? FLOODERS * FLOOD / 4 : 50);
}
END_TEST

enum { PROCESSES = 3, KILLS = 30 };

/* Several processes at once, killed again and again. */
START_TEST(test_processes)
{
    const struct footprint quota = {4 << 20, 700};
    struct samples samples = {0};
    pid_t children[PROCESSES];
    uint64_t state = 7;
    for (int i = 0; i < PROCESSES; i++)
        children[i] = start_flooder(i, quota);
    for (int i = 0; i < KILLS; i++) {
        for (int turns = 1 + chance_below(&state, 6); turns > 0; turns--) {
            pause_ms(10);
            sample(&samples, children, PROCESSES);
        }
        int victim = i % PROCESSES;
        kill(children[victim], SIGKILL);
        waitpid(children[victim], NULL, 0);
        children[victim] = start_flooder(i + 10, quota);
    }
    for (int i = 0; i < PROCESSES; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    must_fit(&samples, quota);
    /* The next process can store. */
    open_with(quota);
    ck_assert(soon(put_number(1) == 0));
    ck_assert_uint_gt(directory_usage(directory).files, 100);
}
END_TEST

/* Counting while another process stores: the ledger includes its files afterwards. */
START_TEST(test_count_meanwhile)
{
    char ledger[FOLDER_TEXT + 16];
    open_with(plenty);
    for (int i = 0; i < 3000; i++)
        ck_assert_int_eq(put_number(i), 0);
    snprintf(ledger, sizeof ledger, "%s/" QUOTA_FILE, directory);
    for (int lap = 0; lap < 5; lap++) {
        disk_cache_close(cache); /* fork with one thread only */
        cache = NULL;
        pid_t child = start_flooder(lap, plenty);
        open_with(plenty);
        pause_ms(20);
        remove(ledger); /* both processes count now */
        pause_ms(100);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        ck_assert(soon(put_number(lap) == 0));
        struct footprint truth = directory_usage(directory), used;
        ck_assert(disk_cache_usage(cache, &used));
        ck_assert_msg(footprint_fits(truth, used), "%ju of %ju bytes, %ju of %ju files",
                      (uintmax_t)used.bytes, (uintmax_t)truth.bytes, (uintmax_t)used.files,
                      (uintmax_t)truth.files);
    }
}
END_TEST

static atomic_bool deleting;

static void *delete_repeatedly(void *context)
{
    (void)context;
    while (atomic_load(&deleting)) {
        pause_ms(3);
        folder_remove(directory);
    }
    return NULL;
}

/* The directory is deleted again and again during puts: storing is not suspended. */
START_TEST(test_deleted)
{
    pthread_t thread;
    int done = 0;
    atomic_store(&deleting, true);
    open_with(plenty);
    ck_assert_int_eq(pthread_create(&thread, NULL, delete_repeatedly, NULL), 0);
    /* A count that a reset has foiled is only repeated after half a second. */
    const time_t deadline = time(NULL) + 20;
    for (int i = 0; i < 3000 || (done <= 100 && time(NULL) < deadline); i++) {
        int err = put_number(i);
        done += err == 0;
        must(err == 0 || err == -EDQUOT || err == -EBUSY, "put %d: %d", i, err);
        must(!disk_cache_suspended(cache), "put %d: %d, then suspended", i, err);
    }
    atomic_store(&deleting, false);
    pthread_join(thread, NULL);
    ck_assert_int_gt(done, 100);
    ck_assert(soon(put_number(1) == 0));
    struct footprint truth = directory_usage(directory), used;
    ck_assert(disk_cache_usage(cache, &used) && footprint_fits(truth, used));
}
END_TEST

/* Closing does not wait for the end of a pass. */
START_TEST(test_stop)
{
    open_with(plenty);
    for (int i = 0; i < 5000; i++)
        ck_assert_int_eq(put_number(i), 0);
    disk_cache_limit(cache, &(struct footprint){1, 1});
    pause_ms(2);
    disk_cache_close(cache);
    cache = NULL;
    ck_assert_uint_gt(directory_usage(directory).files, 10);
}
END_TEST

/* --- Hits ------------------------------------------------------------------------ */

static time_t used_at(const char *path)
{
    struct stat status;
    return stat(path, &status) ? 0 : status.st_mtime;
}

/* Store a valid PNG as tile 0, used SECONDS ago. */
static void put_valid(char path[1024], long seconds)
{
    static const uint8_t black[256 * 256 * 3];
    struct image_writer *writer;
    struct blob *whole;
    char key[TILE_KEY_MAX];
    tile = tile_number(&tile, 0);
    tile_key(&tile, key);
    ck_assert_int_eq(image_writer_new(&writer), 0);
    ck_assert_int_eq(image_writer_tile(&whole, writer, PIXEL_RGB8, NULL, 256, black, key), 0);
    image_writer_free(writer);
    open_with(plenty);
    ck_assert_int_eq(disk_cache_put(cache, KEY_OF(&tile), whole), 0);
    file_age(path_of(0, path), seconds);
    blob_release(whole);
}

static const struct {
    long age;
    bool touched;
} ages[] = {{0, false}, {300, false}, {900, true}, {86400 * 365, true}, {-86400 * 365, true}};

/* The time of the last use is written, but not for every hit. */
START_TEST(test_hit)
{
    char path[1024];
    struct blob *found;
    for (int i = 0; i < ROWS(ages); i++) {
        put_valid(path, ages[i].age);
        time_t before = used_at(path), now = time(NULL);
        ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), _i, &found), 0);
        blob_release(found);
        if (ages[i].touched)
            ck_assert_msg(soon(used_at(path) >= now - 1 && used_at(path) <= now + 20),
                          "row %d: used %jd", i, (intmax_t)used_at(path));
        else
            ck_assert_int_eq(used_at(path), before);
    }
}
END_TEST

/* Without waiting: files in memory are read, and verified as ever. */
START_TEST(test_now)
{
    char path[1024];
    struct blob *found;
    put_valid(path, 0);
    ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), false, &found), 0);
    ck_assert_uint_eq(found->references, 1);
    blob_release(found);
    file_write(path, "torn", 4);
    ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), false, &found), -EILSEQ);
    file_write(path, "", 0);
    ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), false, &found), -EILSEQ);
    remove(path);
    int err = disk_cache_get(cache, KEY_OF(&tile), false, &found);
    ck_assert_msg(err == -ENOENT || err == -EAGAIN, "%d", err);
    tile.x = 77777;
    err = disk_cache_get(cache, KEY_OF(&tile), false, &found);
    ck_assert_msg(err == -ENOENT || err == -EAGAIN, "%d", err);
}
END_TEST

/* Drop the file at PATH from memory; false if the file system cannot. */
static bool drop_from_memory(const char *path)
{
    int fd = open(path, O_RDWR);
    ck_assert_int_eq(fsync(fd), 0);
    ck_assert_int_eq(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    unsigned char in_memory = 1;
    ck_assert_int_eq(mincore(map, 1, &in_memory), 0);
    munmap(map, 4096);
    close(fd);
    return !(in_memory & 1);
}

/* A file that is not in memory: -EAGAIN, until it was read with waiting. A busy system may keep it,
 * or read it again, so it is dropped many times. */
START_TEST(test_now_cold)
{
    char path[1024];
    enum { TRIES = 1000, MANY = 50 };
    struct blob *found;
    int dropped = 0, err = 0;
    put_valid(path, 0);
    for (int i = 0; i < TRIES && dropped < MANY && err == 0; i++) {
        if (!drop_from_memory(path))
            continue;
        dropped++;
        err = disk_cache_get(cache, KEY_OF(&tile), false, &found);
        if (err == 0)
            blob_release(found);
    }
    if (err == 0 && dropped < MANY) {
        printf("(files here cannot be dropped from memory)\n");
        return;
    }
    ck_assert_int_eq(err, -EAGAIN);
    ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), true, &found), 0);
    blob_release(found);
    ck_assert_int_eq(disk_cache_get(cache, KEY_OF(&tile), false, &found), 0);
    blob_release(found);
}
END_TEST

/* Mount a disk of 2 MiB at PATH; false if that is impossible. */
static bool mount_small_disk(char path[FOLDER_TEXT + 16])
{
    snprintf(path, FOLDER_TEXT + 16, "%s/disk", directory);
    mkdir(path, 0777);
    if (geteuid() == 0 && mount("tmpfs", path, "tmpfs", 0, "size=2m") == 0)
        return true;
    printf("(not root: no small disk to test with)\n");
    return false;
}

/* Put tiles until one is refused. Returns its error. */
static int fill(struct disk_cache *small)
{
    int err = 0;
    for (int i = 0; i < 400 && !err; i++) {
        struct tile_address other = tile_number(&tile, i);
        err = disk_cache_put(small, KEY_OF(&other), png);
    }
    return err;
}

static bool is_any(void *context, const char *fingerprint)
{
    (void)context, (void)fingerprint;
    return true;
}

/* A disk smaller than the quota: storing is suspended, some tiles are evicted, storing is resumed.
 */
START_TEST(test_small_disk)
{
    char path[FOLDER_TEXT + 16];
    struct disk_cache *small;
    if (!mount_small_disk(path))
        return;
    ck_assert_int_eq(disk_cache_open(&small, path, &plenty, is_any, NULL), 0);
    ck_assert_int_eq(fill(small), -ENOSPC);
    ck_assert(disk_cache_suspended(small));
    ck_assert_int_eq(disk_cache_put(small, KEY_OF(&tile), png), -ECANCELED);
    pause_ms(5100);
    int err = disk_cache_put(small, KEY_OF(&tile), png);
    bool suspended = disk_cache_suspended(small);
    disk_cache_close(small);
    umount(path);
    ck_assert_int_eq(err, 0);
    ck_assert(!suspended);
}
END_TEST

/* A process that does not know the current tiles evicts none for a full disk. */
START_TEST(test_small_disk_kept)
{
    char path[FOLDER_TEXT + 16];
    struct disk_cache *small;
    if (!mount_small_disk(path))
        return;
    ck_assert_int_eq(disk_cache_open(&small, path, &plenty, NULL, NULL), 0);
    ck_assert_int_eq(fill(small), -ENOSPC);
    const struct footprint full = directory_usage(path);
    pause_ms(500);
    const struct footprint after = directory_usage(path);
    disk_cache_close(small);
    umount(path);
    ck_assert_uint_gt(full.files, 1);
    ck_assert_uint_eq(after.files, full.files);
}
END_TEST

/* No ledger, and no space for one: tiles are evicted all the same, down to the quota. */
START_TEST(test_no_space_for_ledger)
{
    const struct footprint quota = {1 << 20, 100000};
    char path[FOLDER_TEXT + 16], name[FOLDER_TEXT + 32];
    static const char block[4096];
    struct disk_cache *small;
    if (!mount_small_disk(path))
        return;
    ck_assert_int_eq(disk_cache_open(&small, path, &plenty, NULL, NULL), 0);
    ck_assert_int_eq(fill(small), -ENOSPC);
    disk_cache_close(small);
    snprintf(name, sizeof name, "%s/" QUOTA_FILE, path);
    remove(name);
    snprintf(name, sizeof name, "%s/other", path);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    while (write(fd, block, sizeof block) > 0)
        ;
    close(fd);
    ck_assert_int_eq(disk_cache_open(&small, path, &quota, NULL, NULL), 0);
    bool started_full = disk_cache_suspended(small);
    struct footprint other = directory_usage(name), all = footprint_sum(quota, other);
    bool fits = soon(footprint_fits(directory_usage(path), all));
    disk_cache_close(small);
    umount(path);
    ck_assert(started_full);
    ck_assert(fits);
}
END_TEST

static TCase *fixture_case(Suite *suite, const char *name)
{
    TCase *tcase = suite_case(suite, name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    return tcase;
}

int main(void)
{
    Suite *suite = suite_create("disk_quota");
    TCase *tcase = fixture_case(suite, "ledger");
    tcase_add_test(tcase, test_counted);
    tcase_add_test(tcase, test_shrunk);
    tcase_add_test(tcase, test_restart);
    tcase_add_loop_test(tcase, test_invalid, 0, DAMAGES);
    tcase_add_loop_test(tcase, test_invalid_while_open, 0, DAMAGES);
    tcase_add_test(tcase, test_without_ledger);
    tcase_add_test(tcase, test_count_meanwhile);
    tcase = fixture_case(suite, "eviction");
    tcase_add_loop_test(tcase, test_oldest_first, 0, ROWS(clocks));
    tcase_add_test(tcase, test_same_age);
    tcase_add_test(tcase, test_future);
    tcase_add_test(tcase, test_not_current);
    tcase_add_test(tcase, test_foreign);
    tcase_add_test(tcase, test_link);
    tcase_add_test(tcase, test_temporaries);
    tcase_add_test(tcase, test_deleted);
    tcase_add_test(tcase, test_stop);
    tcase = fixture_case(suite, "flood");
    tcase_add_loop_test(tcase, test_flood, 0, ROWS(floods));
    tcase_add_test(tcase, test_processes);
    tcase = fixture_case(suite, "hits");
    tcase_add_loop_test(tcase, test_hit, 0, 2);
    tcase_add_test(tcase, test_now);
    tcase_add_test(tcase, test_now_cold);
    tcase = fixture_case(suite, "disk");
    tcase_add_test(tcase, test_small_disk);
    tcase_add_test(tcase, test_small_disk_kept);
    tcase_add_test(tcase, test_no_space_for_ledger);
    return suite_run(suite);
}
