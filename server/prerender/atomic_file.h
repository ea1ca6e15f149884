/*
 * A file that appears whole or not at all: it is written beside its place as FILE.unfinished,
 * which is locked for as long as its writer lives, and then renamed. What a writer that was killed
 * has left the next one takes over.
 */
#ifndef FARLANDS_PRERENDER_ATOMIC_FILE_H
#define FARLANDS_PRERENDER_ATOMIC_FILE_H

#include <stdbool.h>

#define ATOMIC_FILE_SUFFIX ".unfinished"

struct atomic_file;

/*
 * Begin FILE: an empty FILE.unfinished, locked. IS_OURS looks at what lies there under that name,
 * with bytes in it, and says whether it may be overwritten. Returns 0; -EEXIST where FILE is there,
 * a dangling link too; -EBUSY where a writer that lives has FILE.unfinished; -ENOTUNIQ where
 * something else than ours lies there; or -ENOENT, -EACCES, -EROFS, -ENAMETOOLONG, ..., -ENOMEM.
 */
int atomic_file_new(struct atomic_file **out, const char *file, bool (*is_ours)(int fd));

/* Its name as of now: where to write. With "./" before it unless it begins with a slash, so that
 * nobody takes it for anything but a path. */
const char *atomic_file_path(const struct atomic_file *unfinished);

/*
 * What was written, by whomever, goes to the disk, and FILE.unfinished becomes FILE, unless there
 * is something by now: then -EEXIST. Or the error of doing so. Once.
 */
int atomic_file_finish(struct atomic_file *unfinished);

/* Delete what has not been finished. */
void atomic_file_free(struct atomic_file *unfinished);

#endif
