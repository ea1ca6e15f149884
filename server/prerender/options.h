/* Parses the options of `farlands render`. Pure. */
#ifndef FARLANDS_PRERENDER_OPTIONS_H
#define FARLANDS_PRERENDER_OPTIONS_H

#include <stdint.h>

#include "server/commands/option_values.h"
#include "server/prerender/tile_plan.h"

enum { RENDER_SHARDS_MAX = 1000000 };

enum render_mode { MODE_RENDER, MODE_DRY_RUN, MODE_LIST, MODE_EXPORT };

struct render_options {
    enum render_mode mode;
    const char *archive; /* MODE_EXPORT: the file */
    const char *tiles;   /* a file with tile paths, or "-" for stdin; NULL: use BOX */
    struct tile_box box; /* world and layers are set later */
    uint64_t shard, of;
    unsigned threads; /* 0: one per core */
};

/* Returns 0; -EINVAL with a message in WHY. The texts in OUT point into LINE. */
int render_options_parse(struct render_options *out, const struct command_line *line,
                         char why[OPTION_WHY]);

/* Set the layers of BOX from TEXT, names separated by commas. The box's world must be set. Returns
 * 0; -EINVAL with a message in WHY. */
int render_options_layers(struct tile_box *box, const char *text, char why[OPTION_WHY]);

#endif
