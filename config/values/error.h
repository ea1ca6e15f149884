/* The error in a text or a file, for its author. */
#ifndef FARLANDS_CONFIG_ERROR_H
#define FARLANDS_CONFIG_ERROR_H

#include <stddef.h>

/* "FILE:LINE: KEY: PROBLEM; expected EXPECTED" */
struct config_error {
    char text[1024];
    /* Bytes, nodes and keys that were looked at, even if there was no error. Tests use this number,
     * because it shows that the work is linear in the text's length. */
    size_t steps;
};

#endif
