#include "quota.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "server/cache/file_io.h"
#include "server/cache/tile_walk.h"
#include "server/core/clock.h"

enum {
    PROCESSES = 64, /* that may have the directory open at once */
    BOOT_ID = 36,
    LOCK_LEDGER = 0,     /* held while the file is read or written */
    LOCK_EVICTION = 1,   /* held during an eviction pass */
    LOCK_PROCESS = 4096, /* the first of PROCESSES bytes; each process holds one */
    LEDGER_WAIT_MS = 250,
    TOP_ENTRIES = 4096, /* examined at most to see whether the directory is empty */
};

struct process {
    uint64_t nonce;
    struct footprint pending; /* reserved, but not settled */
};

/* The file, read and written as a whole. */
struct ledger {
    char magic[8];
    char boot_id[BOOT_ID]; /* after a power loss the disk may hold files without their ledger */
    uint32_t known;        /* 0: USED does not include files older than the reset */
    uint64_t generation;   /* random, new at each reset */
    struct footprint used;
    struct footprint added, freed; /* totals since the reset */
    uint64_t counted_at;           /* seconds since boot */
    struct process processes[PROCESSES];
    uint64_t checksum;
};

static const char magic[8] = "FARUSE1\n";

struct quota {
    struct directory *directory;
    uint64_t nonce;
    char boot_id[BOOT_ID];
    uv_mutex_t lock; /* OFD locks belong to the open file, so they don't exclude threads */
    int fd;          /* .usage, or -1 */
    dev_t device;
    ino_t inode;
    int slot;            /* this process's, in the ledger */
    uint64_t generation; /* the ledger's that includes PENDING */
    struct footprint pending;
    uint64_t eviction_generation; /* the ledger's when the pass began; 0: no ledger */
    /* The ledger's when the count began. */
    uint64_t count_generation;
    struct footprint count_added, count_freed, count_pending;
    struct ledger ledger; /* valid between acquire and commit */
    /* Atomic, for quota_last. */
    struct footprint last;
    bool last_known;
};

struct footprint quota_of_empty_cache(void)
{
    return footprint_sum(footprint_of_directory(0, 0), footprint_of_file(sizeof(struct ledger)));
}

uint64_t quota_nonce(const struct quota *quota)
{
    return quota->nonce;
}

static bool read_boot_id(char id[BOOT_ID])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool ok = file && fread(id, BOOT_ID, 1, file) == 1;
    if (file)
        fclose(file);
    return ok;
}

static uint64_t random_number(void)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (uint64_t)getpid() << 32 ^ clock_ns(NULL);
    return number | 1;
}

static uint64_t checksum(const struct ledger *ledger)
{
    return libdeflate_crc32(0, ledger, offsetof(struct ledger, checksum));
}

/* TYPE is F_WRLCK or F_UNLCK. Returns -EAGAIN if another process holds the lock; never waits. */
static int lock_byte(int fd, short type, off_t at)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return 0;
    return errno == EACCES ? -EAGAIN : -errno;
}

static bool is_locked(int fd, off_t at)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* The lock is held for microseconds, unless its holder has been stopped (SIGSTOP). */
static int lock_ledger(int fd)
{
    struct timespec pause = {.tv_nsec = 20000};
    for (long waited = 0;;) {
        int err = lock_byte(fd, F_WRLCK, LOCK_LEDGER);
        if (err != -EAGAIN || waited > LEDGER_WAIT_MS * 1000000L)
            return err;
        nanosleep(&pause, NULL);
        waited += pause.tv_nsec;
        if (pause.tv_nsec < 2000000)
            pause.tv_nsec *= 2;
    }
}

/* True if the directory certainly holds no files of a cache. */
static bool is_empty(const struct directory *directory)
{
    int fd = openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *top = fd < 0 ? NULL : fdopendir(fd);
    if (!top) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool empty = true;
    int entries = 0;
    for (struct dirent *entry; empty && (entry = readdir(top));)
        empty = !tile_walk_is_fingerprint(entry->d_name) &&
                !tile_walk_is_temporary(entry->d_name) && ++entries < TOP_ENTRIES;
    closedir(top);
    return empty;
}

static void reset_ledger(struct quota *quota)
{
    struct ledger *ledger = &quota->ledger;
    memset(ledger, 0, sizeof *ledger);
    memcpy(ledger->magic, magic, sizeof magic);
    memcpy(ledger->boot_id, quota->boot_id, sizeof ledger->boot_id);
    ledger->generation = random_number();
    ledger->used = quota_of_empty_cache();
    ledger->known = is_empty(quota->directory);
    ledger->counted_at = clock_since_boot();
}

/* Read the ledger. Reset it if it is another boot's, or damaged because a process was killed in the
 * middle of a write. */
static int read_ledger(struct quota *quota)
{
    struct ledger *ledger = &quota->ledger;
    ssize_t n = file_transfer(quota->fd, ledger, sizeof *ledger, 0, false);
    if (n < 0)
        return (int)n;
    if (n != sizeof *ledger || memcmp(ledger->magic, magic, sizeof magic) != 0 ||
        ledger->checksum != checksum(ledger) ||
        memcmp(ledger->boot_id, quota->boot_id, sizeof ledger->boot_id) != 0)
        reset_ledger(quota);
    return 0;
}

static int write_ledger(struct quota *quota)
{
    struct ledger *ledger = &quota->ledger;
    ledger->processes[quota->slot] = (struct process){quota->nonce, quota->pending};
    ledger->checksum = checksum(ledger);
    ssize_t n = file_transfer(quota->fd, ledger, sizeof *ledger, 0, true);
    return n == sizeof *ledger ? 0 : n < 0 ? (int)n : -ENOSPC;
}

static int take_slot(struct quota *quota)
{
    for (int i = 0; i < PROCESSES; i++)
        if (lock_byte(quota->fd, F_WRLCK, LOCK_PROCESS + i) == 0) {
            quota->slot = i;
            return 0;
        }
    return -EUSERS;
}

static void close_file(struct quota *quota)
{
    if (quota->fd >= 0)
        close(quota->fd);
    quota->fd = -1;
}

/* Open .usage, unless the file that has that name now is open. */
static int open_file(struct quota *quota)
{
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    struct stat status;
    if (quota->fd >= 0 &&
        fstatat(quota->directory->fd, QUOTA_FILE, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_dev == quota->device && status.st_ino == quota->inode)
        return 0;
    close_file(quota);
    int fd = openat(quota->directory->fd, QUOTA_FILE, flags, 0666);
    if (fd < 0 && errno == ENOENT && directory_reopen(quota->directory) == 0)
        fd = openat(quota->directory->fd, QUOTA_FILE, flags, 0666);
    if (fd < 0)
        return -errno;
    quota->fd = fd;
    int err = fstat(fd, &status) ? -errno : S_ISREG(status.st_mode) ? 0 : -EEXIST;
    quota->device = status.st_dev;
    quota->inode = status.st_ino;
    if (!err)
        err = take_slot(quota);
    if (err)
        close_file(quota);
    return err;
}

/* Lock and read the ledger. Until commit no other thread or process accesses it. */
static int acquire(struct quota *quota)
{
    uv_mutex_lock(&quota->lock);
    int err = open_file(quota);
    if (!err)
        err = lock_ledger(quota->fd);
    if (err)
        goto fail_lock;
    err = read_ledger(quota);
    if (err)
        goto fail_read;
    /* A ledger that was reset, by any process, lacks this process's reservations. */
    struct ledger *ledger = &quota->ledger;
    if (ledger->generation != quota->generation) {
        ledger->used = footprint_sum(ledger->used, quota->pending);
        ledger->added = footprint_sum(ledger->added, quota->pending);
    }
    return 0;

fail_read:
    lock_byte(quota->fd, F_UNLCK, LOCK_LEDGER);
fail_lock:
    uv_mutex_unlock(&quota->lock);
    return err;
}

/* Write and unlock the ledger. */
static int commit(struct quota *quota)
{
    const struct ledger *ledger = &quota->ledger;
    int err = write_ledger(quota);
    if (!err) {
        quota->generation = ledger->generation;
        __atomic_store_n(&quota->last.bytes, ledger->used.bytes, __ATOMIC_RELAXED);
        __atomic_store_n(&quota->last.files, ledger->used.files, __ATOMIC_RELAXED);
        __atomic_store_n(&quota->last_known, ledger->known, __ATOMIC_RELAXED);
    }
    lock_byte(quota->fd, F_UNLCK, LOCK_LEDGER);
    uv_mutex_unlock(&quota->lock);
    return err;
}

int quota_open(struct quota **out, struct directory *directory, int *file_err)
{
    struct quota *quota = calloc(1, sizeof *quota);
    if (!quota)
        return -ENOMEM;
    int err = uv_mutex_init(&quota->lock);
    if (err) {
        free(quota);
        return err;
    }
    quota->directory = directory;
    quota->nonce = random_number();
    quota->fd = -1;
    const bool boot_known = read_boot_id(quota->boot_id);
    *file_err = acquire(quota);
    if (!*file_err) {
        /* Without a boot ID a reboot cannot be detected: treat the usage as unknown. */
        if (!boot_known)
            quota->ledger.known = is_empty(directory);
        *file_err = commit(quota);
    }
    *out = quota;
    return 0;
}

void quota_close(struct quota *quota)
{
    if (!quota)
        return;
    close_file(quota);
    uv_mutex_destroy(&quota->lock);
    free(quota);
}

static void cancel_pending(struct quota *quota, struct footprint reserved)
{
    uv_mutex_lock(&quota->lock);
    quota->pending = footprint_difference(quota->pending, reserved);
    uv_mutex_unlock(&quota->lock);
}

int quota_reserve(struct quota *quota, struct footprint size, struct footprint limit)
{
    int err = acquire(quota);
    if (err)
        return err;
    struct ledger *ledger = &quota->ledger;
    struct footprint used = footprint_sum(ledger->used, size);
    if (!ledger->known || !footprint_fits(used, limit)) {
        err = commit(quota);
        return err ? err : -EDQUOT;
    }
    ledger->used = used;
    ledger->added = footprint_sum(ledger->added, size);
    quota->pending = footprint_sum(quota->pending, size);
    err = commit(quota);
    if (err)
        cancel_pending(quota, size);
    return err;
}

static void release(struct ledger *ledger, struct footprint freed)
{
    ledger->used = footprint_difference(ledger->used, freed);
    ledger->freed = footprint_sum(ledger->freed, freed);
}

void quota_settle(struct quota *quota, struct footprint reserved, struct footprint freed)
{
    assert(footprint_fits(freed, reserved));
    /* On error the ledger exceeds the usage until the next count. */
    if (acquire(quota)) {
        cancel_pending(quota, reserved);
        return;
    }
    quota->pending = footprint_difference(quota->pending, reserved);
    release(&quota->ledger, freed);
    commit(quota);
}

bool quota_is_alive(struct quota *quota, uint64_t nonce)
{
    if (nonce == quota->nonce || acquire(quota))
        return true;
    bool alive = false;
    for (int i = 0; i < PROCESSES && !alive; i++)
        alive = quota->ledger.processes[i].nonce == nonce && i != quota->slot &&
                is_locked(quota->fd, LOCK_PROCESS + i);
    commit(quota);
    return alive;
}

bool quota_last(const struct quota *quota, struct footprint *out)
{
    out->bytes = __atomic_load_n(&quota->last.bytes, __ATOMIC_RELAXED);
    out->files = __atomic_load_n(&quota->last.files, __ATOMIC_RELAXED);
    return __atomic_load_n(&quota->last_known, __ATOMIC_RELAXED);
}

int quota_read(struct quota *quota, struct quota_usage *out)
{
    int err = acquire(quota);
    if (err)
        return err;
    const struct ledger *ledger = &quota->ledger;
    *out =
        (struct quota_usage){ledger->used, ledger->known, clock_since_boot() - ledger->counted_at};
    return commit(quota);
}

int quota_eviction_begin(struct quota *quota)
{
    quota->eviction_generation = 0;
    int err = acquire(quota);
    if (err)
        return err == -ENOSPC || err == -EDQUOT ? 0 : err;
    quota->eviction_generation = quota->ledger.generation;
    err = lock_byte(quota->fd, F_WRLCK, LOCK_EVICTION);
    commit(quota); /* may fail: a full disk must not prevent evictions */
    return err == -EAGAIN ? -EBUSY : err;
}

void quota_eviction_end(struct quota *quota)
{
    uv_mutex_lock(&quota->lock);
    if (quota->fd >= 0)
        lock_byte(quota->fd, F_UNLCK, LOCK_EVICTION);
    uv_mutex_unlock(&quota->lock);
}

void quota_evicted(struct quota *quota, struct footprint freed)
{
    if (acquire(quota))
        return;
    /* If the ledger was reset since, it may never have included FREED: another process may be
     * evicting by it. */
    if (quota->ledger.generation == quota->eviction_generation)
        release(&quota->ledger, freed);
    commit(quota);
}

int quota_count_begin(struct quota *quota)
{
    int err = acquire(quota);
    if (err)
        return err;
    struct ledger *ledger = &quota->ledger;
    quota->count_generation = ledger->generation;
    quota->count_added = ledger->added;
    quota->count_freed = ledger->freed;
    quota->count_pending = quota->pending;
    for (int i = 0; i < PROCESSES; i++) {
        struct process *process = &ledger->processes[i];
        if (i == quota->slot || !process->nonce)
            continue;
        if (is_locked(quota->fd, LOCK_PROCESS + i))
            quota->count_pending = footprint_sum(quota->count_pending, process->pending);
        else /* dead: no more files will come, and the count sees all others */
            *process = (struct process){0};
    }
    return commit(quota);
}

/* The ledger never underestimates, so the smaller of USED and MOST is true. But if USED is below
 * LEAST, someone put files here by hand. */
static uint64_t corrected(uint64_t used, bool known, uint64_t least, uint64_t most)
{
    return known && used >= least && used < most ? used : most;
}

int quota_count_end(struct quota *quota, struct footprint counted)
{
    int err = acquire(quota);
    if (err)
        return err;
    struct ledger *ledger = &quota->ledger;
    if (ledger->generation != quota->count_generation) {
        err = commit(quota);
        return err ? err : -ESTALE;
    }
    const struct footprint freed = footprint_difference(ledger->freed, quota->count_freed);
    const struct footprint added = footprint_difference(ledger->added, quota->count_added);
    const struct footprint least = footprint_difference(counted, freed);
    const struct footprint most =
        footprint_sum(footprint_sum(counted, quota->count_pending), added);
    ledger->used.bytes = corrected(ledger->used.bytes, ledger->known, least.bytes, most.bytes);
    ledger->used.files = corrected(ledger->used.files, ledger->known, least.files, most.files);
    ledger->known = true;
    ledger->counted_at = clock_since_boot();
    return commit(quota);
}
