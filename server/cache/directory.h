/* The cache's directory: a descriptor. Names of the cache's files are relative to it. */
#ifndef FARLANDS_CACHE_DIRECTORY_H
#define FARLANDS_CACHE_DIRECTORY_H

struct directory {
    int fd;     /* constant between open and close, even across directory_reopen */
    char *path; /* to create the directory again if it is deleted */
};

/* Open PATH, creating it and its parents if missing. Returns 0, -EACCES, -EROFS, -ENOTDIR, ... or
 * -ENOMEM. */
int directory_open(struct directory *directory, const char *path);
void directory_close(struct directory *directory);

/* Open the path again, creating the directory if it was deleted. The descriptor is replaced
 * atomically (dup3); on error the old directory stays open. Returns 0 or a negative code. Any
 * thread. */
int directory_reopen(struct directory *directory);

/*
 * Create NAME's parent directories, relative to FD (mkdir -p of everything before the last slash).
 * Adds the number of created directories to *MADE. NAME is modified during the call and restored.
 * Returns 0 or a negative code. Any thread.
 */
int directory_create(int fd, char *name, unsigned *made);

#endif
