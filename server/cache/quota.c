#include "quota.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* File systems give space in blocks of 4 KiB as a rule. An entry is at most 36 bytes in ext4 (8,
 * and 27 characters), whose leaves are half empty after a split. */
enum { BLOCK = 4096, ENTRY = FOOTPRINT_ENTRY };

enum {
    PROCESSES = 64, /* that share a folder at once */
    BOOT_ID = 36,
    LOCK_BOOKS = 0,       /* whose holder reads and writes the file */
    LOCK_SWEEP = 1,       /* whose holder counts and deletes */
    LOCK_PROCESS = BLOCK, /* the first of a byte for each, locked as long as it lives */
    WAIT_FOR_BOOKS_MS = 250,
    TOP_ENTRIES = 4096, /* looked at to tell whether a folder is empty */
};

/* A process and what it is about to make. */
struct process {
    uint64_t nonce;
    struct footprint pending;
};

/* The file: read and written as a whole, in one page, by whoever holds LOCK_BOOKS. */
struct books {
    char magic[8];
    char boot[BOOT_ID]; /* after a power loss the disk may have kept other things than the books */
    uint32_t known;     /* whether USED means anything */
    uint64_t generation;
    struct footprint used;
    struct footprint added, freed; /* ever, since the generation began */
    uint64_t surveyed;             /* seconds since boot */
    struct process process[PROCESSES];
    uint64_t checksum;
};

static const char magic[8] = "FARUSE1\n";

struct quota {
    struct directory *directory;
    uint64_t nonce;
    char boot[BOOT_ID];
    bool boot_known;
    pthread_mutex_t lock; /* the file's locks do not tell threads apart */
    int fd;               /* of .usage, or -1 */
    dev_t device;         /* its */
    ino_t inode;          /* its */
    int process;          /* this one's number in the books */
    uint64_t generation;  /* of the books that have PENDING among what is used */
    struct footprint pending;
    uint64_t swept_generation; /* of the books when the sweep began; 0: there were none */
    struct books books;        /* between enter and leave */
    /* Atomic, for quota_last. */
    struct footprint last;
    bool last_known;
};

struct footprint footprint_of_file(uint64_t size)
{
    return (struct footprint){(size + BLOCK - 1) / BLOCK * BLOCK + ENTRY, 1};
}

struct footprint footprint_of_directory(uint64_t size, uint64_t entries)
{
    /* A folder that was full once keeps its blocks: only what its entries do not make up for. */
    uint64_t blocks = (size + BLOCK - 1) / BLOCK * BLOCK;
    uint64_t paid = BLOCK + entries * ENTRY;
    return (struct footprint){BLOCK + ENTRY + (blocks > paid ? blocks - paid : 0), 1};
}

struct footprint footprint_of_nothing(void)
{
    return footprint_sum(footprint_of_directory(0, 0), footprint_of_file(sizeof(struct books)));
}

static uint64_t seconds_since_boot(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec;
}

static bool read_boot(char boot[BOOT_ID])
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    while (fd >= 0 && (n = read(fd, boot, BOOT_ID)) < 0 && errno == EINTR)
        ;
    if (fd >= 0)
        close(fd);
    return n == BOOT_ID;
}

static uint64_t random_number(void)
{
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = (uint64_t)getpid() << 32 ^ (uint64_t)time(NULL);
    return number | 1;
}

static uint64_t checksum(const struct books *books)
{
    return libdeflate_crc32(0, books, offsetof(struct books, checksum));
}

/* TYPE F_WRLCK, or F_UNLCK; never waits. */
static int lock_byte(int fd, short type, off_t at)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) ? -errno : 0;
}

static bool is_locked(int fd, off_t at)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* The books are held for microseconds, but their holder may have been stopped. */
static int lock_books(int fd)
{
    struct timespec pause = {.tv_nsec = 20000};
    for (long waited = 0;;) {
        int err = lock_byte(fd, F_WRLCK, LOCK_BOOKS);
        if (err != -EAGAIN && err != -EACCES)
            return err;
        if (waited > WAIT_FOR_BOOKS_MS * 1000000L)
            return -EAGAIN;
        nanosleep(&pause, NULL);
        waited += pause.tv_nsec;
        if (pause.tv_nsec < 2000000)
            pause.tv_nsec *= 2;
    }
}

/* Whether nothing of a cache's lies in the folder; where that takes long to tell, no. */
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
    for (struct dirent *entry; empty && (entry = readdir(top));) {
        const char *name = entry->d_name;
        bool fingerprint = strlen(name) == 16 && strspn(name, "0123456789abcdef") == 16;
        empty = !fingerprint && strncmp(name, ".new-", 5) != 0 && ++entries < TOP_ENTRIES;
    }
    closedir(top);
    return empty;
}

static void begin_anew(struct quota *usage)
{
    struct books *books = &usage->books;
    memset(books, 0, sizeof *books);
    memcpy(books->magic, magic, sizeof magic);
    memcpy(books->boot, usage->boot, sizeof books->boot);
    books->generation = random_number();
    books->used = footprint_of_nothing();
    books->known = is_empty(usage->directory);
    books->surveyed = seconds_since_boot();
}

/* The bytes read or written, all of them but at the file's end; or a negative code. What is
 * torn by a kill between two parts its checksum tells. */
static ssize_t transfer(int fd, struct books *books, bool out)
{
    size_t done = 0;
    while (done < sizeof *books) {
        char *at = (char *)books + done;
        size_t left = sizeof *books - done;
        ssize_t n = out ? pwrite(fd, at, left, (off_t)done) : pread(fd, at, left, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

/* Reads the books, or begins them anew where they are not this boot's or damaged. */
static int read_books(struct quota *usage)
{
    struct books *books = &usage->books;
    ssize_t n = transfer(usage->fd, books, false);
    if (n < 0)
        return (int)n;
    if (n != sizeof *books || memcmp(books->magic, magic, sizeof magic) != 0 ||
        books->checksum != checksum(books) ||
        memcmp(books->boot, usage->boot, sizeof books->boot) != 0)
        begin_anew(usage);
    return 0;
}

static int write_books(struct quota *usage)
{
    struct books *books = &usage->books;
    books->process[usage->process] = (struct process){usage->nonce, usage->pending};
    books->checksum = checksum(books);
    ssize_t n = transfer(usage->fd, books, true);
    return n == sizeof *books ? 0 : n < 0 ? (int)n : -ENOSPC;
}

/* A number that no living process has. */
static int take_number(struct quota *usage)
{
    for (int i = 0; i < PROCESSES; i++)
        if (lock_byte(usage->fd, F_WRLCK, LOCK_PROCESS + i) == 0) {
            usage->process = i;
            return 0;
        }
    return -EUSERS;
}

static void close_file(struct quota *usage)
{
    if (usage->fd >= 0)
        close(usage->fd);
    usage->fd = -1;
}

/* .usage as it is now: opened where it is not, or has been deleted. */
static int open_file(struct quota *usage)
{
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    struct stat status;
    if (usage->fd >= 0 &&
        fstatat(usage->directory->fd, QUOTA_FILE, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        status.st_dev == usage->device && status.st_ino == usage->inode)
        return 0;
    close_file(usage);
    int fd = openat(usage->directory->fd, QUOTA_FILE, flags, 0666);
    if (fd < 0 && errno == ENOENT && directory_reopen(usage->directory) == 0)
        fd = openat(usage->directory->fd, QUOTA_FILE, flags, 0666);
    if (fd < 0)
        return -errno;
    usage->fd = fd;
    int err = fstat(fd, &status) ? -errno : S_ISREG(status.st_mode) ? 0 : -EEXIST;
    usage->device = status.st_dev;
    usage->inode = status.st_ino;
    if (!err)
        err = take_number(usage);
    if (err)
        close_file(usage);
    return err;
}

static void publish(struct quota *usage)
{
    __atomic_store_n(&usage->last.bytes, usage->books.used.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&usage->last.files, usage->books.used.files, __ATOMIC_RELAXED);
    __atomic_store_n(&usage->last_known, usage->books.known, __ATOMIC_RELAXED);
}

/* Books begun anew, by whomever, know nothing of what this process is about to make. */
static void carry_over(struct quota *usage)
{
    struct books *books = &usage->books;
    if (books->generation == usage->generation)
        return;
    books->used = footprint_sum(books->used, usage->pending);
    books->added = footprint_sum(books->added, usage->pending);
}

/* Between enter and leave this thread alone, of all processes, has the books. */
static int enter(struct quota *usage)
{
    pthread_mutex_lock(&usage->lock);
    int err = open_file(usage);
    if (!err)
        err = lock_books(usage->fd);
    if (err)
        goto fail_lock;
    err = read_books(usage);
    if (err)
        goto fail_read;
    carry_over(usage);
    return 0;

fail_read:
    lock_byte(usage->fd, F_UNLCK, LOCK_BOOKS);
fail_lock:
    pthread_mutex_unlock(&usage->lock);
    return err;
}

static int leave(struct quota *usage)
{
    int err = write_books(usage);
    if (!err) {
        usage->generation = usage->books.generation;
        publish(usage);
    }
    lock_byte(usage->fd, F_UNLCK, LOCK_BOOKS);
    pthread_mutex_unlock(&usage->lock);
    return err;
}

int quota_open(struct quota **out, struct directory *directory, uint64_t nonce, int *why)
{
    struct quota *usage = calloc(1, sizeof *usage);
    if (!usage)
        return -ENOMEM;
    if (pthread_mutex_init(&usage->lock, NULL)) {
        free(usage);
        return -ENOMEM;
    }
    usage->directory = directory;
    usage->nonce = nonce;
    usage->fd = -1;
    usage->boot_known = read_boot(usage->boot);
    *why = enter(usage);
    if (!*why) {
        /* Who cannot tell whether the machine was down believes nothing. */
        if (!usage->boot_known)
            usage->books.known = is_empty(directory);
        *why = leave(usage);
    }
    *out = usage;
    return 0;
}

void quota_close(struct quota *usage)
{
    if (!usage)
        return;
    close_file(usage);
    pthread_mutex_destroy(&usage->lock);
    free(usage);
}

static void forget(struct quota *usage, struct footprint reserved)
{
    pthread_mutex_lock(&usage->lock);
    usage->pending = footprint_less(usage->pending, reserved);
    pthread_mutex_unlock(&usage->lock);
}

int quota_reserve(struct quota *usage, struct footprint size, struct footprint limit)
{
    int err = enter(usage);
    if (err)
        return err;
    struct books *books = &usage->books;
    struct footprint then = footprint_sum(books->used, size);
    if (!books->known || !footprint_fits(then, limit)) {
        err = leave(usage);
        return err ? err : -EDQUOT;
    }
    books->used = then;
    books->added = footprint_sum(books->added, size);
    usage->pending = footprint_sum(usage->pending, size);
    err = leave(usage);
    if (err)
        forget(usage, size);
    return err;
}

static void subtract(struct books *books, struct footprint freed)
{
    books->used = footprint_less(books->used, freed);
    books->freed = footprint_sum(books->freed, freed);
}

void quota_settle(struct quota *usage, struct footprint reserved, struct footprint freed)
{
    assert(footprint_fits(freed, reserved));
    /* Where the books cannot be had they say too much, until a survey. */
    if (enter(usage)) {
        forget(usage, reserved);
        return;
    }
    usage->pending = footprint_less(usage->pending, reserved);
    subtract(&usage->books, freed);
    leave(usage);
}

bool quota_alive(struct quota *usage, uint64_t nonce)
{
    if (nonce == usage->nonce)
        return true;
    if (enter(usage))
        return true; /* or so we must assume */
    bool alive = false;
    for (int i = 0; i < PROCESSES && !alive; i++)
        alive = usage->books.process[i].nonce == nonce && i != usage->process &&
                is_locked(usage->fd, LOCK_PROCESS + i);
    leave(usage);
    return alive;
}

bool quota_last(const struct quota *usage, struct footprint *out)
{
    out->bytes = __atomic_load_n(&usage->last.bytes, __ATOMIC_RELAXED);
    out->files = __atomic_load_n(&usage->last.files, __ATOMIC_RELAXED);
    return __atomic_load_n(&usage->last_known, __ATOMIC_RELAXED);
}

int quota_read(struct quota *usage, struct footprint *out, bool *known, uint64_t *age)
{
    int err = enter(usage);
    if (err)
        return err;
    *out = usage->books.used;
    *known = usage->books.known;
    *age = seconds_since_boot() - usage->books.surveyed;
    return leave(usage);
}

int quota_eviction_begin(struct quota *usage)
{
    int err = enter(usage);
    usage->swept_generation = err ? 0 : usage->books.generation;
    if (err)
        return err;
    err = lock_byte(usage->fd, F_WRLCK, LOCK_SWEEP);
    leave(usage); /* a disk that is full is no reason not to sweep */
    return err == -EAGAIN || err == -EACCES ? -EBUSY : err;
}

void quota_eviction_end(struct quota *usage)
{
    pthread_mutex_lock(&usage->lock);
    if (usage->fd >= 0)
        lock_byte(usage->fd, F_UNLCK, LOCK_SWEEP);
    pthread_mutex_unlock(&usage->lock);
}

void quota_evicted(struct quota *usage, struct footprint freed)
{
    if (enter(usage))
        return;
    /* Books begun anew may never have had it: another may sweep by them already. */
    if (usage->books.generation == usage->swept_generation)
        subtract(&usage->books, freed);
    leave(usage);
}

int quota_count_begin(struct quota *usage, struct quota_mark *mark)
{
    int err = enter(usage);
    if (err)
        return err;
    struct books *books = &usage->books;
    mark->generation = books->generation;
    mark->added = books->added;
    mark->freed = books->freed;
    mark->pending = usage->pending;
    /* Of the dead nothing more will come, and what came will be counted. */
    for (int i = 0; i < PROCESSES; i++)
        if (i != usage->process && books->process[i].nonce) {
            if (is_locked(usage->fd, LOCK_PROCESS + i))
                mark->pending = footprint_sum(mark->pending, books->process[i].pending);
            else
                books->process[i] = (struct process){0};
        }
    return leave(usage);
}

static uint64_t surveyed(uint64_t used, bool known, uint64_t least, uint64_t most)
{
    /* The books never say too little, so the lower of both bounds is true; unless
     * someone put files here by hand. */
    return known && used >= least && used < most ? used : most;
}

int quota_count_end(struct quota *usage, const struct quota_mark *mark, struct footprint counted)
{
    int err = enter(usage);
    if (err)
        return err;
    struct books *books = &usage->books;
    if (books->generation != mark->generation) {
        err = leave(usage);
        return err ? err : -ESTALE;
    }
    struct footprint least = footprint_less(counted, footprint_less(books->freed, mark->freed));
    struct footprint most = footprint_sum(footprint_sum(counted, mark->pending),
                                          footprint_less(books->added, mark->added));
    books->used.bytes = surveyed(books->used.bytes, books->known, least.bytes, most.bytes);
    books->used.files = surveyed(books->used.files, books->known, least.files, most.files);
    books->known = true;
    books->surveyed = seconds_since_boot();
    return leave(usage);
}
