/* Names in a world's fields. Private to config/. */
#ifndef FARLANDS_CONFIG_FIELDS_RESOLVE_H
#define FARLANDS_CONFIG_FIELDS_RESOLVE_H

#include "config/text/node_reader.h"

/*
 * Give each name in the fields that are being read the number of its field. PATH ends with
 * `fields`. Refuses names that no field has, circles, and too many nodes. Returns 0, or a negative
 * error code with the error set.
 */
int fields_resolve(struct node_reader *reader, const struct key_path *path);

#endif
