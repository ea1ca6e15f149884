/* The viewer's files, as they were when the binary was built. */
#ifndef FARLANDS_VIEWER_FILES_H
#define FARLANDS_VIEWER_FILES_H

#include <stdint.h>

struct viewer_file {
    const char *name; /* "index.html" is the page, the others are below /viewer/ */
    const char *type; /* media type */
    const uint8_t *bytes;
    const uint64_t *length; /* of the bytes */
};

/* NULL where there is no such file. */
const struct viewer_file *viewer_file_find(const char *name);

#endif
