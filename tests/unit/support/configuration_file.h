/* A configuration in a file, for tests that write it and load it. */
#ifndef FARLANDS_CONFIGURATION_FILE_H
#define FARLANDS_CONFIGURATION_FILE_H

#include "config/config.h"
#include "tests/unit/support/fixtures.h"

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
