/* The cache's folder: its descriptor, to which names are relative, and its path. */
#ifndef FARLANDS_CACHE_DIRECTORY_H
#define FARLANDS_CACHE_DIRECTORY_H

struct folder {
    int fd;     /* the same number for good */
    char *path; /* for when someone has deleted it */
};

/* Open PATH, made where it is missing. Returns 0, -EACCES, -EROFS, -ENOTDIR, ... or -ENOMEM. */
int folder_open(struct folder *folder, const char *path);
void folder_close(struct folder *folder);

/* Open it anew, at once for all threads, and make it where it was deleted. Any thread. */
int folder_renew(struct folder *folder);

/*
 * mkdir -p of everything before the last slash of NAME, below the folder FD;
 * *MADE grows by the folders made here. Returns 0 or a negative code. NAME is
 * written to meanwhile and then as before. Any thread.
 */
int folder_make(int fd, char *name, unsigned *made);

#endif
