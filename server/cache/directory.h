/* The cache's directory: a descriptor, to which the names of all its files are relative. */
#ifndef FARLANDS_CACHE_DIRECTORY_H
#define FARLANDS_CACHE_DIRECTORY_H

struct directory {
    int fd;     /* constant between open and close, also across directory_reopen */
    char *path; /* to create it again if it is deleted */
};

/* Open PATH, creating it and its parents if missing. Returns 0, -EACCES, -EROFS, -ENOTDIR, ... or
 * -ENOMEM. */
int directory_open(struct directory *directory, const char *path);
void directory_close(struct directory *directory);

/* Open the path again, creating it if it was deleted. The descriptor is replaced atomically (dup3).
 * Returns 0 or a negative code; on error the old one stays. Any thread. */
int directory_reopen(struct directory *directory);

/*
 * Create the parent directories of NAME, which is relative to FD (mkdir -p of everything before the
 * last slash). *MADE grows by the number of directories created. Returns 0 or a negative code. NAME
 * is modified during the call and restored. Any thread.
 */
int directory_create(int fd, char *name, unsigned *made);

#endif
