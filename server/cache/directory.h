/* The cache's folder: its descriptor, to which names are relative, and its path. */
#ifndef FARLANDS_CACHE_DIRECTORY_H
#define FARLANDS_CACHE_DIRECTORY_H

struct directory {
    int fd;     /* the same number for good */
    char *path; /* for when someone has deleted it */
};

/* Open PATH, made where it is missing. Returns 0, -EACCES, -EROFS, -ENOTDIR, ... or -ENOMEM. */
int directory_open(struct directory *directory, const char *path);
void directory_close(struct directory *directory);

/* Open it anew, at once for all threads, and make it where it was deleted. Any thread. */
int directory_reopen(struct directory *directory);

/*
 * mkdir -p of everything before the last slash of NAME, below the folder FD;
 * *MADE grows by the folders made here. Returns 0 or a negative code. NAME is
 * written to meanwhile and then as before. Any thread.
 */
int directory_create(int fd, char *name, unsigned *made);

#endif
