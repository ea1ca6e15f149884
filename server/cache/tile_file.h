/* A tile's file: read and verified as a whole, written as a whole or not at all. Knows no quota. */
#ifndef FARLANDS_CACHE_TILE_FILE_H
#define FARLANDS_CACHE_TILE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/core/blob.h"

/* Features that the system lacks, found by trying. Zero-initialize it; members are atomic. */
struct tile_reader {
    bool no_nowait;  /* cannot open or read without waiting */
    bool no_noatime; /* refuses O_NOATIME, because the files belong to another user */
};

/*
 * Read the file NAME below DIRECTORY: a tile's picture, PNG or WebP, whose key is NAME. Returns 0
 * and one reference in *OUT; -ENOENT; -EILSEQ if the file is damaged, another tile's or something
 * else; or the error of reading. If WAIT is false the call never waits for the disk, and returns
 * -EAGAIN if it would have to. *TOUCH is -1, or, if the last use was long ago, the file's
 * descriptor: the caller sets the file's times and closes it. Any thread.
 */
int tile_file_read(struct blob **out, struct tile_reader *reader, int directory, const char *name,
                   bool wait, int *touch);

/* Write PNG as the new file NAME. Returns 0, -EEXIST or another negative code; on error no file is
 * left. Any thread. */
int tile_file_write(int directory, const char *name, const struct blob *png);

#endif
