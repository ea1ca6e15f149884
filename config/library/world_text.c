#include "world_text.h"

#include <errno.h>
#include <fenv.h>
#include <stdio.h>

#include "config/text/text_node.h"

/* The compiler's options say whether there is libyaml. */
#ifdef FARLANDS_WITHOUT_YAML
static world_reader *const read_world = world_json_read;
#else
static world_reader *const read_world = world_yaml_read;
#endif

int world_text_read(struct world_text *out, const char *text, size_t length, const char *name,
                    struct config_error *error)
{
    fenv_t host;
    error->steps = 0;
    if (length > TEXT_BYTES_MAX) {
        snprintf(error->text, sizeof error->text, "text:1: %zu bytes; expected at most %d", length,
                 TEXT_BYTES_MAX);
        return -EFBIG;
    }
    /* numbers become floats, which should round to the nearest */
    fegetenv(&host);
    fesetenv(FE_DFL_ENV);
    int err = read_world(out, text, length, name, error);
    fesetenv(&host);
    return err;
}
