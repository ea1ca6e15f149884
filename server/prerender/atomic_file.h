/*
 * A file that appears complete or not at all. It is written as FILE.unfinished, which its writer
 * keeps locked, and then renamed. A killed writer leaves FILE.unfinished unlocked: the next writer
 * overwrites it.
 */
#ifndef FARLANDS_PRERENDER_ATOMIC_FILE_H
#define FARLANDS_PRERENDER_ATOMIC_FILE_H

#include <stdbool.h>

#define ATOMIC_FILE_SUFFIX ".unfinished"

struct atomic_file;

/*
 * Create FILE.unfinished, empty and locked. If it exists with content, IS_OURS decides from that
 * whether it may be overwritten. Returns 0; -EEXIST if FILE exists, even as a dangling link; -EBUSY
 * if a running writer has FILE.unfinished; -ENOTUNIQ if it exists and is not ours; or -ENOENT,
 * -EACCES, -EROFS, -ENAMETOOLONG, ..., -ENOMEM.
 */
int atomic_file_new(struct atomic_file **out, const char *file, bool (*is_ours)(int fd));

/* The path of FILE.unfinished. It begins with a slash or a dot, so that it is never mistaken for an
 * option or a URI. */
const char *atomic_file_path(const struct atomic_file *atomic);

/* Sync FILE.unfinished and rename it to FILE. At most once. Returns 0; -EEXIST if FILE exists by
 * now; or the error of syncing or renaming. */
int atomic_file_finish(struct atomic_file *atomic);

/* Deletes FILE.unfinished unless it was finished. */
void atomic_file_free(struct atomic_file *atomic);

#endif
