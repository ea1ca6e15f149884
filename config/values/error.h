/* What is wrong with a text or a file, for its author. */
#ifndef FARLANDS_CONFIG_ERROR_H
#define FARLANDS_CONFIG_ERROR_H

#include <stddef.h>

/* "FILE:LINE: KEY: PROBLEM; expected EXPECTED" */
struct config_error {
    char text[1024];
    /* Bytes, nodes and keys that reading looked at, with and without an error: the work is linear
     * in the length of the text. */
    size_t steps;
};

#endif
