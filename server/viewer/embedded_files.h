/* The viewer's files, as they were when the binary was built. */
#ifndef FARLANDS_VIEWER_EMBEDDED_FILES_H
#define FARLANDS_VIEWER_EMBEDDED_FILES_H

#include <stdint.h>

struct embedded_file {
    const char *name; /* "index.html" is the page, the others are below /viewer/ */
    const char *type; /* media type */
    const uint8_t *bytes, *gzip;
    const uint64_t *length, *gzip_length; /* of the bytes, plain and through gzip */
};

/* Above the number of files. */
enum { EMBEDDED_FILES_MAX = 32 };

/* The table; ends with a NULL name. */
extern const struct embedded_file embedded_files[];

#endif
