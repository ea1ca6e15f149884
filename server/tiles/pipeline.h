/*
 * What makes tiles and keeps them: the render threads, the caches, and the
 * supply that goes by them. Any thread, but where it says otherwise.
 */
#ifndef FARLANDS_TILES_PIPELINE_H
#define FARLANDS_TILES_PIPELINE_H

#include "config/config.h"
#include "server/telemetry/metrics.h"
#include "server/tiles/fetch.h"

struct works;

struct works_parts {
    const struct config *config;
    struct metrics *metrics; /* outlives it */
    /* Whether tiles of FINGERPRINT are served at present. Any thread. */
    bool (*is_current)(void *context, const char *fingerprint);
    void *context;
};

/* Where there can be no disk cache, the log says why, and it goes without. Returns 0 or a negative
 * code. */
int works_new(struct works **out, const struct works_parts *parts);

struct supply *works_supply(struct works *works);

/* The render threads, whose stations are easels. */
struct workers *works_renderers(struct works *works);

unsigned works_threads(const struct works *works);

/* Where tiles are kept on disk, or "none". */
const char *works_folder(const struct works *works);

/* The limits of CONFIG from now on. */
void works_limit(struct works *works, const struct config *config);

/* How long what runs has run, in ms: of renders and reads from the disk, the longest. */
uint64_t works_longest_run_ms(struct works *works);

/* Fill in what GAUGES say of queue and caches. */
void works_measure(struct works *works, struct metrics_gauges *gauges);

/* End it, when nobody waits for tiles any more: what runs is finished. Returns false where
 * something does not end within seconds: it then cannot be freed. */
bool works_stop(struct works *works);

/* One that has stopped, or NULL. */
void works_free(struct works *works);

#endif
