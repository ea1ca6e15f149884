/* The options of `farlands render`. Pure. */
#ifndef FARLANDS_PRERENDER_OPTIONS_H
#define FARLANDS_PRERENDER_OPTIONS_H

#include <stdint.h>

#include "server/commands/option_values.h"
#include "server/prerender/tile_plan.h"

enum { RENDER_SHARDS_MAX = 1000000 };

enum render_mode { MODE_RENDER, MODE_DRY_RUN, MODE_LIST, MODE_EXPORT };

struct render_options {
    enum render_mode mode;
    const char *archive; /* the file of MODE_EXPORT */
    const char *tiles;   /* a file of tile paths, "-" for stdin; NULL: use BOX */
    struct tile_box box; /* without its world and layers */
    uint64_t shard, of;
    unsigned threads; /* 0: one per core */
};

/* Returns 0; -EINVAL with a message in WHY. The texts point into LINE. */
int render_options_parse(struct render_options *out, const struct command_line *line,
                         char why[OPTION_WHY]);

/* Set the layers of BOX from TEXT, names separated by commas; the box's world is set. Returns 0;
 * -EINVAL with a message in WHY. */
int render_options_layers(struct tile_box *box, const char *text, char why[OPTION_WHY]);

#endif
