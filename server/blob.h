/* Reference-counted bytes that never change: an encoded tile, a document. */
#ifndef FARLANDS_BLOB_H
#define FARLANDS_BLOB_H

#include <stddef.h>
#include <stdint.h>

struct blob {
    unsigned references; /* atomic; use the functions */
    size_t length;
    uint8_t bytes[];
};

/* LENGTH bytes to fill in, with one reference, or NULL where memory is out. Any thread. */
struct blob *blob_new(size_t length);
/* The same with a copy of BYTES. */
struct blob *blob_copy(const void *bytes, size_t length);

/* One reference more, or less; the last one frees. Any thread. */
struct blob *blob_hold(struct blob *blob);
void blob_release(struct blob *blob);

#endif
