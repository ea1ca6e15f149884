/* Checks of a world's fields as a whole. Private to config/. */
#ifndef FARLANDS_CONFIG_FIELDS_CHECK_H
#define FARLANDS_CONFIG_FIELDS_CHECK_H

#include "config/text/node_reader.h"

/*
 * Check that the fields of WORLD can be evaluated anywhere, with finite values, and that they
 * repeat if the world does. They are those of NODE, whose path is PATH. Sets bounds of all heights.
 * Returns 0, or a negative error code with the error set.
 */
int fields_check(struct node_reader *reader, const struct text_node *node,
                 const struct key_path *path, const struct world_config *world, float *lowest,
                 float *highest);

enum { UNFIT_TEXT = 64 };

/* The wavelength of NOISE that does not divide its period, and its UNITS; or NULL. */
const char *unfit_wavelength(const struct farlands_params *noise, char text[UNFIT_TEXT],
                             int64_t *units);

#endif
