#include "ground.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = GROUND_SAMPLES * 4, TRANSFER_SECONDS = 10 };

/* The world ends at 2^52 blocks. */
static const int64_t LIMIT = (INT64_C(1) << 52) / GROUND_CELLS;

struct place {
    enum { ABSENT, COMING, HERE } state;
    struct ground_square square;
};

/* One request in progress. The handle is reused, so libcurl keeps the connection. */
struct transfer {
    CURL *easy;
    struct place *place; /* of the requested square; NULL if free */
    unsigned char body[BYTES];
    size_t length;
};

struct offset {
    int column, row;
};

struct ground {
    struct ground_options options;
    int64_t column, row; /* the player's square */

    /*
     * Square (c, r) is stored at (c mod WINDOW, r mod WINDOW). No two squares within reach share
     * a place, and none moves when the player does.
     */
    int window;
    struct place *places;
    struct offset *offsets; /* of the squares within reach, from the player's; nearest first */
    int offset_count;

    CURLM *multi;
    struct transfer transfers[GROUND_CONNECTIONS];
    double now, not_before; /* seconds: time of this turn, and of the next request */
    struct ground_counts counts;
};

static int64_t distance_squared(int64_t columns, int64_t rows)
{
    return columns * columns + rows * rows;
}

/* Unlike %, never negative. */
static int64_t modulo(int64_t number, int64_t by)
{
    return (number % by + by) % by;
}

static struct place *place_of(const struct ground *ground, int64_t column, int64_t row)
{
    return &ground->places[modulo(row, ground->window) * ground->window +
                           modulo(column, ground->window)];
}

/* --- Requests ------------------------------------------------------------------ */

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    const size_t length = size * count;
    if (length > sizeof transfer->body - transfer->length)
        return 0; /* longer than a square: libcurl reports an error */
    memcpy(transfer->body + transfer->length, bytes, length);
    transfer->length += length;
    return length;
}

static void start(struct ground *ground, struct transfer *transfer, struct place *place)
{
    const struct ground_square *square = &place->square;
    char url[2048];
    /* With the world's fingerprint responses are immutable, so caches may keep them. */
    snprintf(url, sizeof url, "%s/region.f32?x=%lld&y=%lld&width=%d&height=%d&v=%s",
             ground->options.url, (long long)(square->column * GROUND_CELLS),
             (long long)(square->row * GROUND_CELLS), GROUND_SIDE, GROUND_SIDE,
             ground->options.fingerprint);
    place->state = COMING;
    transfer->place = place;
    transfer->length = 0;
    curl_easy_setopt(transfer->easy, CURLOPT_URL, url);
    curl_multi_add_handle(ground->multi, transfer->easy);
}

static struct transfer *free_transfer(struct ground *ground)
{
    for (int i = 0; i < GROUND_CONNECTIONS; i++)
        if (!ground->transfers[i].place)
            return &ground->transfers[i];
    return NULL;
}

/* Request no more squares than there are connections: the order of the others may change. */
static void request_nearest(struct ground *ground)
{
    if (ground->now < ground->not_before)
        return;
    struct transfer *transfer = free_transfer(ground);
    for (int i = 0; i < ground->offset_count && transfer; i++) {
        const int64_t column = ground->column + ground->offsets[i].column;
        const int64_t row = ground->row + ground->offsets[i].row;
        struct place *place = place_of(ground, column, row);
        if (place->state != ABSENT || column < -LIMIT || column >= LIMIT || row < -LIMIT ||
            row >= LIMIT)
            continue;
        place->square.column = column;
        place->square.row = row;
        start(ground, transfer, place);
        transfer = free_transfer(ground);
    }
}

/* --- Distant squares ----------------------------------------------------------- */

static void end_transfer(struct ground *ground, struct transfer *transfer)
{
    curl_multi_remove_handle(ground->multi, transfer->easy);
    transfer->place = NULL;
}

/* In HTTP/1.1 this closes the connection; libcurl opens another one for the next request. */
static void cancel(struct ground *ground, const struct place *place)
{
    for (int i = 0; i < GROUND_CONNECTIONS; i++)
        if (ground->transfers[i].place == place)
            end_transfer(ground, &ground->transfers[i]);
}

/* Squares are kept one square beyond the reach, so that walking to and fro fetches nothing. */
static bool is_distant(const struct ground *ground, const struct ground_square *square)
{
    const int64_t kept = ground->options.reach + 1;
    const int64_t columns = llabs(square->column - ground->column);
    const int64_t rows = llabs(square->row - ground->row);
    return columns > kept || rows > kept || distance_squared(columns, rows) > kept * kept;
}

static void drop_distant(struct ground *ground)
{
    for (int i = 0; i < ground->window * ground->window; i++) {
        struct place *place = &ground->places[i];
        if (place->state == ABSENT || !is_distant(ground, &place->square))
            continue;
        if (place->state == COMING) {
            cancel(ground, place);
            ground->counts.cancelled++;
        } else {
            ground->counts.dropped++;
        }
        place->state = ABSENT;
    }
}

/* --- Responses ----------------------------------------------------------------- */

/* False if the server has reloaded its configuration and changed the world of this name. */
static bool is_of_this_world(const struct ground *ground, CURL *easy)
{
    struct curl_header *header;
    return curl_easy_header(easy, "Farlands-Fingerprint", 0, CURLH_HEADER, -1, &header) ==
               CURLHE_OK &&
           strcmp(header->value, ground->options.fingerprint) == 0;
}

static void take(struct ground *ground, struct transfer *transfer)
{
    struct place *place = transfer->place;
    curl_off_t us = 0;
    for (int i = 0; i < GROUND_SAMPLES; i++) {
        const unsigned char *byte = transfer->body + 4 * i; /* little-endian on every machine */
        const uint32_t bits =
            byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
        memcpy(&place->square.height[i], &bits, sizeof bits);
    }
    place->state = HERE;
    ground->counts.arrived++;
    curl_easy_getinfo(transfer->easy, CURLINFO_TOTAL_TIME_T, &us);
    ground->options.arrived(ground->options.context, &place->square, (double)us / 1e3);
}

/* A square without a response is absent again, so it will be requested again. */
static int finish(struct ground *ground, struct transfer *transfer, CURLcode result)
{
    long status = 0;
    curl_off_t pause = 0;
    int err = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_RETRY_AFTER, &pause);

    transfer->place->state = ABSENT;
    if (result != CURLE_OK) { /* the network, or the server restarts */
        ground->counts.lost++;
        ground->not_before = ground->now + 1;
    } else if (status == 503) { /* pause all requests, not only this one */
        ground->counts.shed++;
        ground->not_before = ground->now + (pause > 0 ? (double)pause : 1);
    } else if (status != 200 || transfer->length != BYTES) {
        fprintf(stderr, "a square: status %ld, %zu bytes: %.*s\n", status, transfer->length,
                status == 200 ? 0 : (int)transfer->length, (const char *)transfer->body);
        err = -EPROTO;
    } else if (!is_of_this_world(ground, transfer->easy)) {
        fprintf(stderr, "a square: the server has another world of this name now\n");
        err = -EPROTO;
    } else {
        take(ground, transfer);
    }
    end_transfer(ground, transfer);
    return err;
}

static int take_responses(struct ground *ground)
{
    int left, err = 0;
    curl_multi_perform(ground->multi, &left);
    for (CURLMsg *message; !err && (message = curl_multi_info_read(ground->multi, &left));) {
        struct transfer *transfer;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
        err = finish(ground, transfer, message->data.result);
    }
    return err;
}

int ground_turn(struct ground *ground, int64_t x, int64_t y, double now)
{
    ground->now = now;
    ground->column = x >> GROUND_CELLS_BITS; /* rounds down, also below zero */
    ground->row = y >> GROUND_CELLS_BITS;
    int err = take_responses(ground);
    if (err)
        return err;
    drop_distant(ground);
    request_nearest(ground);
    curl_multi_perform(ground->multi, &(int){0}); /* send the requests now */
    return 0;
}

void ground_wait(struct ground *ground, int ms)
{
    curl_multi_poll(ground->multi, NULL, 0, ms, NULL);
}

const struct ground_square *ground_at(const struct ground *ground, int64_t x, int64_t y)
{
    const int64_t column = x >> GROUND_CELLS_BITS, row = y >> GROUND_CELLS_BITS;
    const struct place *place = place_of(ground, column, row);
    const bool here =
        place->state == HERE && place->square.column == column && place->square.row == row;
    return here ? &place->square : NULL;
}

const struct ground_counts *ground_counts(const struct ground *ground)
{
    return &ground->counts;
}

/* --- Set-up and end ------------------------------------------------------------ */

static int nearest_first(const void *a, const void *b)
{
    const struct offset *x = a, *y = b;
    return (int)(distance_squared(x->column, x->row) - distance_squared(y->column, y->row));
}

static int lay_out(struct ground *ground)
{
    const int reach = ground->options.reach;
    const size_t across = 2 * (size_t)reach + 1;

    ground->window = 2 * (reach + 1) + 1;
    ground->places = calloc((across + 2) * (across + 2), sizeof *ground->places);
    ground->offsets = calloc(across * across, sizeof *ground->offsets);
    if (!ground->places || !ground->offsets)
        return -ENOMEM;
    for (int row = -reach; row <= reach; row++)
        for (int column = -reach; column <= reach; column++)
            if (distance_squared(column, row) <= reach * reach)
                ground->offsets[ground->offset_count++] = (struct offset){column, row};
    qsort(ground->offsets, (size_t)ground->offset_count, sizeof *ground->offsets, nearest_first);
    return 0;
}

static int open_handles(struct ground *ground)
{
    ground->multi = curl_multi_init();
    if (!ground->multi)
        return -ENOMEM;
    curl_multi_setopt(ground->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)GROUND_CONNECTIONS);
    /* By default libcurl keeps four idle connections for each added handle, and closes the rest. */
    curl_multi_setopt(ground->multi, CURLMOPT_MAXCONNECTS, (long)GROUND_CONNECTIONS);
    for (int i = 0; i < GROUND_CONNECTIONS; i++) {
        struct transfer *transfer = &ground->transfers[i];
        CURL *easy = transfer->easy = curl_easy_init();
        if (!easy)
            return -ENOMEM;
        curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
        curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
        curl_easy_setopt(easy, CURLOPT_TIMEOUT, (long)TRANSFER_SECONDS);
    }
    return 0;
}

int ground_new(struct ground **out, const struct ground_options *options)
{
    struct ground *ground = calloc(1, sizeof *ground);
    if (!ground)
        return -ENOMEM;
    ground->options = *options;
    int err = lay_out(ground);
    if (!err)
        err = open_handles(ground);
    if (err) {
        ground_free(ground);
        return err;
    }
    *out = ground;
    return 0;
}

void ground_free(struct ground *ground)
{
    if (!ground)
        return;
    for (int i = 0; i < GROUND_CONNECTIONS; i++) {
        if (ground->transfers[i].place)
            end_transfer(ground, &ground->transfers[i]);
        curl_easy_cleanup(ground->transfers[i].easy);
    }
    curl_multi_cleanup(ground->multi);
    free(ground->offsets);
    free(ground->places);
    free(ground);
}
