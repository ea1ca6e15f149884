/*
 * A JSON object that is built up and then printed. One thread at a time.
 *
 * Memory may run out at any step: every function accepts the NULL that an earlier one returned, and
 * json_end tells.
 */
#ifndef FARLANDS_CORE_JSON_H
#define FARLANDS_CORE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "server/core/blob.h"

struct json {
    cJSON *root;
    bool complete; /* false: memory ran out, and more additions are of no use */
};

/* An empty object, which json_end frees. */
struct json json_new(void);

/* Add VALUE to PARENT, as KEY or, if that is NULL, at the end of an array. Takes VALUE over, and
 * returns it; or NULL. */
cJSON *json_add(struct json *json, cJSON *parent, const char *key, cJSON *value);

/* Add a string. */
__attribute__((format(printf, 4, 5))) void json_add_text(struct json *json, cJSON *parent,
                                                         const char *key, const char *format, ...);

/* The object as text that ends with a newline, INDENTED or on one line; or NULL if memory ran out.
 * Frees the object. */
struct blob *json_end(struct json *json, bool indented);

#endif
