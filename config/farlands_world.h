/*
 * Farlands: a world's parameters from text, so that farlands_heights gives the very floats that the
 * daemon serves. The text is one of
 *
 *  - JSON: the document that the daemon serves at /{world}.json (or /{world}:{seed}.json), whole;
 * keys that are no parameters are passed over;
 *  - YAML: a configuration with `worlds:`, as the daemon reads it. What it leaves out comes from
 *    the built-in default world, as it does there.
 */
#ifndef FARLANDS_WORLD_READ_H
#define FARLANDS_WORLD_READ_H

#include "noise/farlands.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Room for a name, and for what is wrong with a text, their ends included. */
#define FARLANDS_WORLD_NAME 96
#define FARLANDS_WORLD_WHY 1024

/* The longest text that is read, in bytes. */
#define FARLANDS_WORLD_TEXT (1 << 20)

struct farlands_world {
    char name[FARLANDS_WORLD_NAME]; /* as in URLs: "default", or "default:42" of a seed */
    struct farlands_params params;  /* without faults: farlands_terrain_new accepts them */
    int native_zoom;                /* the zoom at which one sample is one block */
    int64_t origin[2];              /* units: where sample 0 of tile 0 lies in x, in y */
    char fingerprint[17];           /* of the daemon's answers, 16 hex digits; "" from YAML */
};

/*
 * Read the world NAME from TEXT, LENGTH bytes that need no NUL behind them and are not kept. Where
 * NAME is NULL the text must hold just one world. WHY, of WHY_SIZE bytes (NULL and 0: not wanted),
 * gets a line of what is wrong, where, and what is accepted. Any thread, whatever its locale.
 *
 * Returns 0, or, with *OUT untouched,
 *  -EINVAL   malformed, a parameter missing or out of its bounds, several worlds and no NAME
 *  -ENOENT   no world NAME in it
 *  -ENOTSUP  a document of another FARLANDS_GENERATOR: its heights are not to be had here
 *  -EFBIG    more than FARLANDS_WORLD_TEXT bytes
 *  -ENOMEM
 */
int farlands_world_read(struct farlands_world *out, const char *text, size_t length,
                        const char *name, char *why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
