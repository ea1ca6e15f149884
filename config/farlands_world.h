/*
 * Farlands: read a world's parameters from text, so that terrain_heights returns exactly the
 * floats that the daemon serves. The text is one of
 *
 *  - JSON: the complete document that the daemon serves at /{world}.json or /{world}:{seed}.json.
 *  - YAML: a configuration of the daemon with `worlds:`.
 *
 * Omitted keys take their defaults, as in the daemon; a released default never changes. So
 * documents of earlier releases with the same generator are read, whatever keys they lack. A key
 * that this library does not know is refused, since it may change the heights, except within
 * `layers`, `limits` and `urls`.
 *
 * Both are read as YAML, in time linear in their length, without anchors and aliases, with at most
 * 32 levels of lists and mappings, and at most 200000 keys and values.
 */
#ifndef FARLANDS_WORLD_READ_H
#define FARLANDS_WORLD_READ_H

#include "noise/terrain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of a name and of an error message, with their terminating NULs. */
#define FARLANDS_WORLD_NAME 96
#define FARLANDS_WORLD_WHY 1024

/* The maximum length of a text in bytes. */
#define FARLANDS_WORLD_TEXT (1 << 20)

struct farlands_world {
    char name[FARLANDS_WORLD_NAME]; /* as in URLs: "default", or "default:42" with a seed */
    struct farlands_params params;  /* valid for terrain_new_noise */
    int native_zoom;                /* the zoom at which one sample is one block */
    int64_t origin[2];              /* units: x and y of sample 0 of tile 0 */
    char fingerprint[17];           /* of regions, 16 hex digits; "" for YAML */
};

/*
 * Read the world NAME from TEXT, LENGTH bytes without a terminating NUL. If NAME is NULL the text
 * must have exactly one world. On error WHY, of WHY_SIZE bytes, gets one line: the position, the
 * problem and the expected value; pass NULL and 0 to do without. Any thread, any locale. Does not
 * keep TEXT.
 *
 * Returns 0, or, with *OUT untouched,
 *  -EINVAL   malformed, beyond the limits above, a parameter out of bounds, an unknown key, a
 *            document without `generator`, `name` or `noise`, several worlds and no NAME
 *  -ENOENT   no world NAME
 *  -ENOTSUP  a document of another generator, whose heights this library cannot compute; a world
 *            with `fields`, which is more than PARAMS can say
 *  -EFBIG    more than FARLANDS_WORLD_TEXT bytes
 *  -ENOMEM
 */
int farlands_world_read(struct farlands_world *out, const char *text, size_t length,
                        const char *name, char *why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
