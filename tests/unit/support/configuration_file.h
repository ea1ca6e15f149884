/* A configuration in a file, for tests that write it and load it. */
#ifndef FARLANDS_CONFIGURATION_FILE_H
#define FARLANDS_CONFIGURATION_FILE_H

#include "config/daemon/config.h"
#include "tests/unit/support/fixtures.h"

/* At most so many steps for a byte of a configuration: an event of YAML counts one and its depth,
 * which is at most 32, and a byte is looked at by up to three passes. */
enum { STEPS_PER_BYTE = 36 };

static char folder[FOLDER_TEXT];
static char file[FOLDER_TEXT + 16]; /* in it */

static inline void set_up(void)
{
    folder_new(folder);
    snprintf(file, sizeof file, "%s/a.yaml", folder);
}

static inline void tear_down(void)
{
    folder_remove(folder);
}

#endif
