/*
 * JSON text, written from left to right: each value goes into the innermost list or object that is
 * open. Numbers have enough digits to be read back exactly. One thread at a time.
 *
 * If memory runs out at any step, nothing more is written, and json_end returns NULL.
 */
#ifndef FARLANDS_CORE_JSON_H
#define FARLANDS_CORE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "server/core/blob.h"

enum { JSON_DEPTH = 16 };

/* Private. */
struct json {
    struct blob *text;    /* its own length is the room; NULL: out of memory */
    size_t length;        /* used */
    bool indented, first; /* nothing is in the innermost list or object yet */
    unsigned depth;
    char close[JSON_DEPTH]; /* what ends the open lists and objects */
};

/* Begin an object: INDENTED for people, or on one line. */
struct json json_new(bool indented);

/* Close all that is open, and add a newline. Returns one reference, or NULL if memory ran out. */
struct blob *json_end(struct json *json);

/* Begin a list or an object, and end the innermost one. KEY, here and below, is a name in an object
 * and needs no escapes; NULL in a list. */
void json_list(struct json *json, const char *key);
void json_object(struct json *json, const char *key);
void json_close(struct json *json);

/* Add UTF-8 as a string; null if NULL. */
void json_string(struct json *json, const char *key, const char *text);
__attribute__((format(printf, 3, 4))) void json_text(struct json *json, const char *key,
                                                     const char *format, ...);

/* Add a number; null if not finite. */
void json_integer(struct json *json, const char *key, int64_t value);
void json_float(struct json *json, const char *key, float value);
void json_real(struct json *json, const char *key, double value);
void json_reals(struct json *json, const char *key, const double *values, int count);

/* Add VALUE, which is JSON. */
void json_raw(struct json *json, const char *key, const char *value);

#endif
