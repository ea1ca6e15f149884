/* Checks a world's fields as a whole. Private to config/. */
#ifndef FARLANDS_CONFIG_FIELDS_CHECK_H
#define FARLANDS_CONFIG_FIELDS_CHECK_H

#include "config/text/node_reader.h"

/*
 * Check that WORLD's fields, read from NODE at PATH, have finite values anywhere, and that they
 * repeat if the world does. Sets *LOWEST and *HIGHEST, which bound all heights. Returns 0, or a
 * negative error code with the error set.
 */
int fields_check(struct node_reader *reader, const struct text_node *node,
                 const struct key_path *path, const struct world_config *world, float *lowest,
                 float *highest);

enum { UNFIT_TEXT = 64 };

/* A wavelength of NOISE that does not divide NOISE's period, as a text such as "the wavelength of
 * octave 3" (in TEXT, if need be), and as UNITS; NULL if all wavelengths divide the period. */
const char *unfit_wavelength(const struct farlands_params *noise, char text[UNFIT_TEXT],
                             int64_t *units);

#endif
