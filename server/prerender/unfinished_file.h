/*
 * A file that appears complete or not at all: until it is finished it is FILE.unfinished, which is
 * locked. A killed writer leaves that unlocked, and the next writer overwrites it.
 */
#ifndef FARLANDS_PRERENDER_UNFINISHED_FILE_H
#define FARLANDS_PRERENDER_UNFINISHED_FILE_H

#include <stdbool.h>

struct unfinished_file {
    char *file, *path; /* PATH: FILE.unfinished, with a slash in it */
    int fd;            /* of PATH; holds the lock; less than 0: none, or finished */
};

/*
 * Create FILE.unfinished, empty. IS_OURS tells if a file there that is not empty is what a killed
 * writer has left. Returns 0; -EEXIST if FILE exists, even as a dangling link; -EBUSY if a running
 * writer has FILE.unfinished; -ENOTUNIQ if that is another file; or an error of creating it. Close
 * it even after an error.
 */
int unfinished_file_open(struct unfinished_file *out, const char *file, bool (*is_ours)(int fd));

/* Write everything to disk and give FILE its name. Returns 0; -EEXIST if another FILE has appeared
 * by now, which is kept; -ENOENT if PATH is another file by now; or a write error. */
int unfinished_file_finish(struct unfinished_file *unfinished);

/* Delete the file if it is not finished. */
void unfinished_file_close(struct unfinished_file *unfinished);

enum { UNFINISHED_FILE_WHY = 512 };

/* The message for ERR, an error of writing FILE: FILE, the reason, and DETAIL unless that is NULL.
 * Returns WHY. */
char *unfinished_file_explain(const char *file, int err, const char *detail,
                              char why[UNFINISHED_FILE_WHY]);

#endif
