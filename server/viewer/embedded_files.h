/* The viewer's files, embedded in the binary. */
#ifndef FARLANDS_VIEWER_EMBEDDED_FILES_H
#define FARLANDS_VIEWER_EMBEDDED_FILES_H

#include <stdint.h>

struct embedded_file {
    const char *name; /* "index.html" is served at /, the others below /viewer/, and those that
                         programs look for at / there, too: route.c names them */
    const char *type; /* media type */
    const uint8_t *bytes, *gzip;
    const uint64_t *length, *gzip_length; /* in bytes */
};

/* More than the number of files. */
enum { EMBEDDED_FILES_MAX = 48 };

/* Ends with a NULL name. */
extern const struct embedded_file embedded_files[];

#endif
