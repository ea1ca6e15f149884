/* What `farlands render` is asked for, as its options say it. Pure. */
#ifndef FARLANDS_PRERENDER_OPTIONS_H
#define FARLANDS_PRERENDER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "server/commands/command_line.h"
#include "server/prerender/tile_plan.h"

enum { RENDER_THREADS_MAX = 1024, RENDER_SHARDS_MAX = 1000000, RENDER_WHY = 512 };

enum render_mode { MODE_RENDER, MODE_DRY_RUN, MODE_LIST, MODE_EXPORT };

struct render_options {
    enum render_mode mode;
    const char *archive; /* of MODE_EXPORT: its file */
    const char *tiles;   /* the file of a list, "-" for stdin; NULL: a box */
    struct tile_box box; /* but for its world and layers */
    uint64_t shard, of;
    unsigned threads; /* 0: one a core */
};

/* Returns 0; -EINVAL with what is wrong, and what is accepted, in WHY. */
int render_options_parse(struct render_options *out, const struct command_line *line,
                         char why[RENDER_WHY]);

/* The layers of BOX, whose world is known, from TEXT: names divided by commas. The same. */
int render_options_layers(struct tile_box *box, const char *text, char why[RENDER_WHY]);

#endif
