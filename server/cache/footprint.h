/* Disk space in bytes and files, as the quota counts it: at least as much as du counts. */
#ifndef FARLANDS_CACHE_FOOTPRINT_H
#define FARLANDS_CACHE_FOOTPRINT_H

#include <stdbool.h>
#include <stdint.h>

struct footprint {
    uint64_t bytes, files; /* directories count as files */
};

enum {
    FOOTPRINT_BLOCK = 4096, /* most file systems allocate in blocks of 4 KiB */
    /* A directory entry: in ext4 at most 36 bytes (8, and 27 characters), and leaves are half empty
     * after a split. */
    FOOTPRINT_ENTRY = 80,
};

static inline struct footprint footprint_sum(struct footprint a, struct footprint b)
{
    return (struct footprint){a.bytes + b.bytes, a.files + b.files};
}

/* A - B, or 0 if B is larger, for each member. */
static inline struct footprint footprint_difference(struct footprint a, struct footprint b)
{
    return (struct footprint){a.bytes - (b.bytes < a.bytes ? b.bytes : a.bytes),
                              a.files - (b.files < a.files ? b.files : a.files)};
}

/* True if neither A's bytes nor its files exceed LIMIT's. */
static inline bool footprint_fits(struct footprint a, struct footprint limit)
{
    return a.bytes <= limit.bytes && a.files <= limit.files;
}

static inline uint64_t footprint_blocks(uint64_t bytes)
{
    return (bytes + FOOTPRINT_BLOCK - 1) / FOOTPRINT_BLOCK * FOOTPRINT_BLOCK;
}

/* A file with SIZE bytes, and its directory entry. */
static inline struct footprint footprint_of_file(uint64_t size)
{
    return (struct footprint){footprint_blocks(size) + FOOTPRINT_ENTRY, 1};
}

/*
 * A directory with st_size SIZE, and its own entry. Its ENTRIES are accounted for already
 * (footprint_of_file). But a directory that was full once keeps its blocks, so it is charged for
 * the blocks that ENTRIES don't account for.
 */
static inline struct footprint footprint_of_directory(uint64_t size, uint64_t entries)
{
    const uint64_t blocks = footprint_blocks(size);
    const uint64_t paid = FOOTPRINT_BLOCK + entries * FOOTPRINT_ENTRY;
    return (struct footprint){
        FOOTPRINT_BLOCK + FOOTPRINT_ENTRY + (blocks > paid ? blocks - paid : 0), 1};
}

#endif
