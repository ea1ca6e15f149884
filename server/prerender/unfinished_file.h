/* A file that appears complete or not at all. Until finished, it is named FILE.unfinished and
 * locked. A killed writer leaves FILE.unfinished unlocked, and the next writer overwrites it. */
#ifndef FARLANDS_PRERENDER_UNFINISHED_FILE_H
#define FARLANDS_PRERENDER_UNFINISHED_FILE_H

#include <stdbool.h>

struct unfinished_file {
    char *file, *path; /* PATH: FILE.unfinished, always with a slash */
    int fd;            /* PATH's, which holds the lock; less than 0: none, or finished */
};

/*
 * Create FILE.unfinished, empty. If there is a file that is not empty, IS_OURS tells if a killed
 * writer left it. Returns 0; -EEXIST if FILE exists, even as a dangling link; -EBUSY if a running
 * writer has FILE.unfinished; -ENOTUNIQ if FILE.unfinished is not ours; or an error from creating
 * it. Close it even after an error.
 */
int unfinished_file_open(struct unfinished_file *out, const char *file, bool (*is_ours)(int fd));

/* Write everything to disk and rename PATH to FILE. Returns 0; -EEXIST, leaving FILE alone, if
 * another one has appeared meanwhile; -ENOENT if PATH is another file by now; or a write error. */
int unfinished_file_finish(struct unfinished_file *unfinished);

/* Delete the file unless it is finished, and free the names. */
void unfinished_file_close(struct unfinished_file *unfinished);

enum { UNFINISHED_FILE_WHY = 512 };

/* Write to WHY the message for ERR, an error while writing FILE: FILE, the reason, and DETAIL
 * unless NULL. Returns WHY. */
char *unfinished_file_explain(const char *file, int err, const char *detail,
                              char why[UNFINISHED_FILE_WHY]);

#endif
