#include "fetch.h"

#include <errno.h>
#include <stdlib.h>

#include "server/core/clock.h"
#include "server/core/coding.h"
#include "server/telemetry/log.h"
#include "server/tiles/render.h"
#include "server/world/run_kind.h"
#include "server/world/worlds.h"

enum {
    PAUSED_MAX = 8, /* stopped renders at most: they keep their memory until they go on */
    /* A render thread that is free this soon looks on the disk itself, because waking a reader
     * costs more than a look, which in a flood of new tiles finds nothing. */
    READER_WAIT_MS = 10,
};

/*
 * The steps of a fetch, in order. Each step's function returns the next step, which is ANSWER if
 * READ has found the tile, and after an error. If READ has not found it on a reader thread, RENDER
 * moves the fetch to the renderers, because readers have no scratch.
 */
#define STEPS(STEP)                                                                \
    STEP(READ, read_file) /* from disk */                                          \
    STEP(RENDER, render)  /* in slices */                                          \
    STEP(KEEP, keep)      /* in memory, and offer the tile to the writer */        \
    STEP(ANSWER, answer)  /* all waiters */                                        \
    STEP(STORE, store)    /* if the writer is behind: waiters have their answer */ \
    STEP(END, end)

enum step {
#define STEP(name, run) name,
    STEPS(STEP)
#undef STEP
        DONE, /* the fetch has ended, or is queued: another thread may already go on with it */
};

/* The work of a flight's leader. */
struct fetch {
    struct job job; /* first: a job is cast to its fetch */
    const struct fetcher *fetcher;
    struct flight *flight;
    struct tile tile; /* the fetch holds its world */
    enum step step;   /* the next one */
    bool paused;      /* counted in PAUSED_MAX */
    bool unstored;    /* the writer had no room */
    struct render_progress progress;
    uint64_t render_ns;
    struct blob *blob; /* the tile, once it is made */
    int result;        /* FETCH_RENDERED, ..., or a negative code */
};

static void count(const struct fetcher *fetcher, enum metric metric)
{
    metrics_add(fetcher->metrics, metric);
}

/* Only pictures are kept on disk. */
static struct disk_cache *disk_for(const struct fetcher *fetcher, const struct tile *tile)
{
    return format_is_picture(tile->address.format) ? fetcher->disk_cache : NULL;
}

static enum step end(struct fetch *fetch, void *scratch)
{
    (void)scratch;
    if (fetch->paused)
        __atomic_fetch_sub(fetch->fetcher->paused, 1, __ATOMIC_RELAXED);
    render_progress_clear(&fetch->progress);
    blob_release(fetch->blob);
    world_release(fetch->tile.content.world);
    free(fetch);
    return DONE;
}

static enum step answer(struct fetch *fetch, void *scratch)
{
    (void)scratch;
    single_flight_complete(fetch->fetcher->flights, fetch->flight, fetch->blob, fetch->result);
    return fetch->unstored ? STORE : END;
}

static enum step fail(struct fetch *fetch, int err)
{
    fetch->result = err;
    return ANSWER;
}

void fetch_stored(void *context, int err)
{
    if (err == -EDQUOT)
        count(context, METRIC_CACHE_REFUSED);
    else if (err && err != -ECANCELED)
        count(context, METRIC_CACHE_FAULTS);
}

static enum step read_file(struct fetch *fetch, void *scratch)
{
    const struct fetcher *fetcher = fetch->fetcher;

    (void)scratch;
    int err = disk_cache_get(fetcher->disk_cache, fetch->tile.key, true, &fetch->blob);
    if (err && err != -ENOENT)
        count(fetcher, METRIC_CACHE_FAULTS);
    if (err)
        return RENDER;
    memory_cache_put(fetcher->memory_cache, fetch->tile.key, fetch->blob);
    fetch->result = FETCH_FROM_DISK;
    return ANSWER;
}

/* The uncompressed tile, if memory has it. */
static struct blob *find_plain(const struct fetch *fetch)
{
    struct tile_address plain = fetch->tile.address;
    char key[TILE_KEY_MAX];

    plain.coding = CODING_IDENTITY;
    return memory_cache_get(fetch->fetcher->memory_cache, tile_key(&plain, key));
}

/* Compress the tile, which is rendered if not in memory. The plain tile is not kept, because most
 * clients accept the same coding. Returns 0 or a negative code. */
static int make_compressed(struct blob **out, struct fetch *fetch, void *scratch)
{
    *out = find_plain(fetch);
    const int err = *out ? 0 : render_tile(out, scratch, &fetch->tile, &fetch->progress, NULL);
    if (err)
        return err;
    *out = coding_pack_over(*out, fetch->tile.address.coding);
    return *out ? 0 : -ENOMEM;
}

enum { LATER = 1 };

/* The pause of struct render_progress; CONTEXT is the fetch. */
static int pause_render(void *context)
{
    struct fetch *fetch = context;
    const struct fetcher *fetcher = fetch->fetcher;

    if (work_queue_go_on(fetcher->renderers, &fetch->job, false))
        return 0;
    if (!fetch->paused && __atomic_add_fetch(fetcher->paused, 1, __ATOMIC_RELAXED) > PAUSED_MAX) {
        __atomic_fetch_sub(fetcher->paused, 1, __ATOMIC_RELAXED);
        return 0;
    }
    fetch->paused = true;
    return LATER;
}

/* Make the tile. Returns 0, LATER or a negative code. */
static int make(struct fetch *fetch, void *scratch)
{
    const uint64_t start = clock_ns(NULL);
    const int err = fetch->tile.address.coding
                        ? make_compressed(&fetch->blob, fetch, scratch)
                        : render_tile(&fetch->blob, scratch, &fetch->tile, &fetch->progress, NULL);

    fetch->render_ns += clock_ns(NULL) - start;
    return err;
}

static enum step enqueue(struct fetch *fetch);

static enum step render(struct fetch *fetch, void *scratch)
{
    const struct fetcher *fetcher = fetch->fetcher;

    if (!scratch) { /* on a reader thread */
        fetch->step = RENDER;
        return enqueue(fetch);
    }
    if (!fetch->paused)
        count(fetcher, METRIC_MISSES);
    const int err = make(fetch, scratch);
    if (err == LATER) {
        fetch->step = RENDER;
        return work_queue_resume(fetcher->renderers, &fetch->job) ? fail(fetch, -EBUSY) : DONE;
    }
    if (err)
        return fail(fetch, err);
    metrics_observe(fetcher->metrics, HISTOGRAM_RENDER, fetch->render_ns);
    metrics_add_rendered(fetcher->metrics, fetch->tile.address.layer, fetch->tile.address.format);
    fetch->result = FETCH_RENDERED;
    return KEEP;
}

static enum step keep(struct fetch *fetch, void *scratch)
{
    const struct fetcher *fetcher = fetch->fetcher;
    const bool stores = disk_for(fetcher, &fetch->tile);

    (void)scratch;
    /* Whatever its answer is, the writer leaves the tile in memory. */
    if (stores)
        fetch->unstored = !tile_writer_offer(fetcher->writer, fetch->tile.key, fetch->blob);
    else
        memory_cache_put(fetcher->memory_cache, fetch->tile.key, fetch->blob);
    return ANSWER;
}

static enum step store(struct fetch *fetch, void *scratch)
{
    (void)scratch;
    tile_writer_store(fetch->fetcher->writer, fetch->tile.key, fetch->blob);
    return END;
}

static void take_steps(struct fetch *fetch, enum step step, void *scratch)
{
    static const struct {
        const char *name;
        enum step (*run)(struct fetch *fetch, void *scratch);
    } steps[] = {
#define STEP(name, run) [name] = {#name, run},
        STEPS(STEP)
#undef STEP
    };

    while (step != DONE) {
        if (log_enabled(LOG_DEBUG))
            log_line(LOG_DEBUG, "tile %s: %s", fetch->tile.key, steps[step].name);
        step = steps[step].run(fetch, scratch);
    }
}

/* Go on with a fetch, unless all waiters have left. */
static void on_turn(struct job *job, void *scratch)
{
    struct fetch *fetch = (struct fetch *)job;

    if (single_flight_is_wanted(fetch->fetcher->flights, fetch->flight)) {
        take_steps(fetch, fetch->step, scratch);
        return;
    }
    count(fetch->fetcher, METRIC_ABANDONED);
    take_steps(fetch, END, scratch);
}

static void on_cancel(struct job *job)
{
    struct fetch *fetch = (struct fetch *)job;
    take_steps(fetch, fail(fetch, -EBUSY), NULL);
}

/* Submit the fetch to the renderers, or to the readers so that disk hits don't wait for renders. */
static enum step enqueue(struct fetch *fetch)
{
    const struct fetcher *fetcher = fetch->fetcher;
    const bool read = fetch->step == READ && work_queue_wait_ms(fetcher->renderers, fetch->job.rank,
                                                                fetch->job.client) > READER_WAIT_MS;
    struct work_queue *queue = read ? fetcher->readers : fetcher->renderers;

    return work_queue_submit(queue, &fetch->job) ? fail(fetch, -EBUSY) : DONE;
}

/* Start the leader's fetch. FLIGHT ends in any case. */
static void start(const struct fetcher *fetcher, struct flight *flight,
                  const struct fetch_request *request)
{
    /* An earlier flight may have completed between fetch_lookup and single_flight_join. */
    struct blob *blob = memory_cache_get(fetcher->memory_cache, request->tile->key);
    if (blob) {
        single_flight_complete(fetcher->flights, flight, blob, FETCH_FROM_MEMORY);
        blob_release(blob);
        return;
    }
    struct fetch *fetch = calloc(1, sizeof *fetch);
    if (!fetch) {
        single_flight_complete(fetcher->flights, flight, NULL, -ENOMEM);
        return;
    }
    fetch->job.run = on_turn;
    fetch->job.cancel = on_cancel;
    fetch->job.rank = request->rank;
    fetch->job.client = request->client;
    fetch->fetcher = fetcher;
    fetch->flight = flight;
    fetch->tile = *request->tile;
    world_hold(fetch->tile.content.world);
    fetch->step = request->maybe_on_disk ? READ : RENDER;
    fetch->job.kind = run_kind_of_tile(&request->tile->address);
    fetch->progress = (struct render_progress){.pause = pause_render, .context = fetch};
    take_steps(fetch, enqueue(fetch), NULL);
}

/* True if JOB fetches for FLIGHT, which may have ended and is only compared. Other jobs are queued,
 * too: pieces of regions, for example. */
static bool is_for(const struct job *job, const void *flight)
{
    return job->run == on_turn && ((const struct fetch *)job)->flight == flight;
}

/* Let a queued fetch run at REQUEST's turn if that is sooner. A fetch that is moving between the
 * queues is missed, and its turn stays. */
static void hurry(const struct fetcher *fetcher, const struct flight *flight,
                  const struct fetch_request *request)
{
    if (!work_queue_join(fetcher->renderers, is_for, flight, request->rank, request->client))
        work_queue_join(fetcher->readers, is_for, flight, request->rank, request->client);
}

int fetch_start(const struct fetcher *fetcher, const struct fetch_request *request,
                struct waiter *waiter)
{
    bool leader;
    struct flight *flight =
        single_flight_join(fetcher->flights, request->tile->key, waiter, &leader);
    if (!flight)
        return -ENOMEM;
    if (leader) {
        start(fetcher, flight, request);
        return 0;
    }
    count(fetcher, METRIC_COALESCED);
    hurry(fetcher, flight, request);
    return 1;
}

struct blob *fetch_lookup(const struct fetcher *fetcher, struct fetch_request *request)
{
    struct disk_cache *disk = disk_for(fetcher, request->tile);
    struct blob *blob = memory_cache_get(fetcher->memory_cache, request->tile->key);

    request->from_memory = blob;
    if (blob || !disk)
        return blob;
    int err = disk_cache_get(disk, request->tile->key, false, &blob);
    if (!err)
        memory_cache_put(fetcher->memory_cache, request->tile->key, blob);
    else if (err != -ENOENT && err != -EAGAIN)
        count(fetcher, METRIC_CACHE_FAULTS);
    request->maybe_on_disk = err == -EAGAIN;
    return blob;
}
