#include "blob.h"

#include <stdlib.h>
#include <string.h>

struct blob *blob_new(size_t length)
{
    struct blob *blob = malloc(sizeof *blob + length);
    if (!blob)
        return NULL;
    blob->references = 1;
    blob->uses = 0;
    blob->length = length;
    return blob;
}

struct blob *blob_copy(const void *bytes, size_t length)
{
    struct blob *blob = blob_new(length);
    if (blob)
        memcpy(blob->bytes, bytes, length);
    return blob;
}

struct blob *blob_trim(struct blob *blob, size_t length)
{
    struct blob *trimmed = realloc(blob, sizeof *blob + length);
    if (!trimmed)
        trimmed = blob;
    trimmed->length = length;
    return trimmed;
}

struct blob *blob_join(struct blob *first, struct blob *second)
{
    struct blob *both = first && second ? blob_new(first->length + second->length) : NULL;
    if (both) {
        memcpy(both->bytes, first->bytes, first->length);
        memcpy(both->bytes + first->length, second->bytes, second->length);
    }
    blob_release(first);
    blob_release(second);
    return both;
}

struct blob *blob_hold(struct blob *blob)
{
    __atomic_fetch_add(&blob->references, 1, __ATOMIC_RELAXED);
    return blob;
}

void blob_release(struct blob *blob)
{
    if (blob && __atomic_sub_fetch(&blob->references, 1, __ATOMIC_ACQ_REL) == 0)
        free(blob);
}
