/*
 * A game's client without the game: a player spawns and walks, and ground.c streams the ground
 * around them. This program also computes the same ground in process and fails if a sample differs
 * by one bit; a game does one or the other. After `make install` and, on Debian,
 * `apt-get install libcurl4-openssl-dev libcjson-dev`:
 *
 *     cc -o client client.c ground.c $(pkg-config --cflags --libs farlands libcurl libcjson) -lm
 *     ./client http://127.0.0.1:8080/default
 */
#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <errno.h>
#include <farlands.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ground.h"

enum { FRAME_MS = 16, RADIUS_MAX = GROUND_REACH_MAX * GROUND_CELLS };

struct client {
    const char *url; /* of the world */
    double speed;    /* blocks per second */
    double seconds;
    double squares; /* ends after so many, if that is earlier */
    double radius;  /* blocks */

    struct farlands_world *world;
    struct farlands_scratch *scratch;
    struct ground *ground;

    /*
     * The player's position in blocks: a whole number and an offset. Far out no float or double
     * holds their sum; a game keeps its scene around such an origin.
     */
    int64_t origin[2];
    double offset[2];

    double *latencies; /* ms, of the squares that arrived */
    size_t latency_count, latency_capacity;
    unsigned long samples, differing;
    unsigned long frames, groundless; /* groundless: no ground under the player */
};

/* --- Before the first frame ---------------------------------------------------- */

struct document {
    char *text; /* NUL-terminated, or NULL */
    size_t length;
    long status;
};

static size_t append(char *bytes, size_t size, size_t count, void *context)
{
    struct document *document = context;
    const size_t length = size * count;
    char *longer = NULL;
    if (document->length + length < FARLANDS_WORLD_TEXT)
        longer = realloc(document->text, document->length + length + 1);
    if (!longer)
        return 0;
    memcpy(longer + document->length, bytes, length);
    document->text = longer;
    document->length += length;
    longer[document->length] = '\0';
    return length;
}

/* GET URL, with status 200 or ALSO; on error text is NULL. The caller frees the text. */
static struct document fetch(const char *url, long also)
{
    struct document document = {0};
    CURL *easy = curl_easy_init();
    if (!easy)
        return document;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, 10L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &document);
    const CURLcode result = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &document.status);
    curl_easy_cleanup(easy);
    if (result != CURLE_OK || (document.status != 200 && document.status != also)) {
        const char *why = result == CURLE_OK ? document.text : curl_easy_strerror(result);
        fprintf(stderr, "%s: %s\n", url, why ? why : "empty response");
        free(document.text);
        document.text = NULL;
    }
    return document;
}

/* Fetch the world's document, from which the library makes the same world. */
static bool fetch_world(struct client *client)
{
    char url[1024], why[FARLANDS_MESSAGE] = "";
    snprintf(url, sizeof url, "%s.json", client->url);
    struct document document = fetch(url, 200);
    if (!document.text)
        return false;
    int err =
        farlands_world_new(&client->world, document.text, document.length, NULL, why, sizeof why);
    free(document.text);
    if (!err)
        err = farlands_scratch_new(&client->scratch);
    if (err)
        fprintf(stderr, "%s: %s\n", url, why[0] ? why : strerror(-err));
    return !err;
}

/* Spawn at the nearest block above the sea that is not steep; if there is none, at the origin. */
static bool spawn(struct client *client)
{
    char url[1024];
    snprintf(url, sizeof url, "%s/spawn?x=%lld&y=%lld&min=0&slope=0.5", client->url,
             (long long)client->origin[0], (long long)client->origin[1]);
    struct document document = fetch(url, 404);
    if (!document.text)
        return false;
    cJSON *place = cJSON_Parse(document.text);
    const cJSON *x = cJSON_GetObjectItem(place, "x"), *y = cJSON_GetObjectItem(place, "y");
    const bool found = document.status == 200 && cJSON_IsNumber(x) && cJSON_IsNumber(y);
    if (found) { /* a double holds whole numbers up to 2^52 */
        client->origin[0] = (int64_t)x->valuedouble;
        client->origin[1] = (int64_t)y->valuedouble;
    }
    if (found || document.status == 404)
        printf("spawn: (%lld, %lld), by %s\n", (long long)client->origin[0],
               (long long)client->origin[1], document.text);
    else
        fprintf(stderr, "%s: %s\n", url, document.text);
    cJSON_Delete(place);
    free(document.text);
    return found || document.status == 404;
}

/* --- Arriving squares ---------------------------------------------------------- */

static void note_latency(struct client *client, double ms)
{
    if (client->latency_count == client->latency_capacity) {
        const size_t capacity = client->latency_capacity ? 2 * client->latency_capacity : 1024;
        double *longer = realloc(client->latencies, capacity * sizeof *longer);
        if (!longer)
            return;
        client->latencies = longer;
        client->latency_capacity = capacity;
    }
    client->latencies[client->latency_count++] = ms;
}

static void on_square(void *context, const struct ground_square *square, double ms)
{
    struct client *client = context;
    const int64_t x = square->column * GROUND_CELLS, y = square->row * GROUND_CELLS;
    const struct farlands_grid grid = {
        .x = x * FARLANDS_UNIT, /* a unit is 1/1024 block */
        .y = y * FARLANDS_UNIT,
        .step = FARLANDS_UNIT,
        .width = GROUND_SIDE,
        .height = GROUND_SIDE,
    };
    float own[GROUND_SAMPLES] = {0};

    note_latency(client, ms);
    farlands_heights(client->world, client->scratch, &grid, own, GROUND_SIDE);
    for (int i = 0; i < GROUND_SAMPLES; i++) {
        client->samples++;
        if (memcmp(&own[i], &square->height[i], sizeof own[i]) == 0)
            continue;
        if (client->differing++ == 0)
            fprintf(stderr, "at (%lld, %lld) the server has %a, the library %a\n",
                    (long long)(x + i % GROUND_SIDE), (long long)(y + i / GROUND_SIDE),
                    (double)square->height[i], (double)own[i]);
    }
}

/* --- The walk ------------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A wide curve, so that new ground comes from all sides in turn. */
static void walk(struct client *client, double elapsed, double step)
{
    client->offset[0] += cos(elapsed / 5) * client->speed * step;
    client->offset[1] += sin(elapsed / 5) * client->speed * step;
}

static int play(struct client *client)
{
    const double begun = now();
    int err = 0;
    const struct ground_counts *counts = ground_counts(client->ground);
    for (double last = begun;
         !err && last - begun < client->seconds && (double)counts->arrived < client->squares;) {
        const double moment = now();
        walk(client, moment - begun, moment - last);
        last = moment;
        const int64_t x = client->origin[0] + (int64_t)floor(client->offset[0]);
        const int64_t y = client->origin[1] + (int64_t)floor(client->offset[1]);
        err = ground_turn(client->ground, x, y, moment);
        client->frames++;
        client->groundless += !ground_at(client->ground, x, y);
        ground_wait(client->ground, FRAME_MS);
    }
    return err;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(struct client *client)
{
    const struct ground_counts *counts = ground_counts(client->ground);
    double p50 = 0, p99 = 0;
    if (client->latency_count > 0) {
        qsort(client->latencies, client->latency_count, sizeof *client->latencies, ascending);
        p50 = client->latencies[(client->latency_count - 1) / 2];
        p99 = client->latencies[(client->latency_count - 1) * 99 / 100];
    }
    printf("%lu regions: p50 %.2f ms, p99 %.2f ms; %lu samples verified, %lu differ\n",
           counts->arrived, p50, p99, client->samples, client->differing);
    printf("%lu dropped, %lu cancelled, %lu shed, %lu lost; %lu of %lu frames without ground\n",
           counts->dropped, counts->cancelled, counts->shed, counts->lost, client->groundless,
           client->frames);
}

static bool run(struct client *client)
{
    if (!fetch_world(client) || !spawn(client))
        return false;
    const struct ground_options options = {
        .url = client->url,
        .fingerprint = farlands_world_fingerprint(client->world),
        .reach = (int)ceil(client->radius / GROUND_CELLS),
        .arrived = on_square,
        .context = client,
    };
    int err = ground_new(&client->ground, &options);
    if (err) {
        fprintf(stderr, "%s\n", strerror(-err));
        return false;
    }
    err = play(client);
    report(client);
    return !err && client->samples > 0 && client->differing == 0;
}

/* --- The command line ----------------------------------------------------------- */

static bool parse_number(const char *text, double min, double max, double *number)
{
    char *rest;
    *number = strtod(text, &rest);
    return rest != text && *rest == '\0' && *number >= min && *number <= max;
}

static bool parse_blocks(const char *text, int64_t *blocks)
{
    char *rest;
    errno = 0;
    *blocks = strtoll(text, &rest, 10);
    return rest != text && *rest == '\0' && errno == 0 && *blocks >= -FARLANDS_LIMIT_BLOCKS &&
           *blocks <= FARLANDS_LIMIT_BLOCKS;
}

static bool parse(struct client *client, int argc, char **argv)
{
    bool good = true;
    *client = (struct client){.speed = 20, .seconds = 10, .squares = HUGE_VAL, .radius = 128};
    for (int option; good && (option = getopt(argc, argv, "s:t:n:r:x:y:")) != -1;)
        if (option == 's')
            good = parse_number(optarg, 0, 10000, &client->speed);
        else if (option == 't')
            good = parse_number(optarg, 0.1, 3600, &client->seconds);
        else if (option == 'n')
            good = parse_number(optarg, 1, 1e9, &client->squares);
        else if (option == 'r')
            good = parse_number(optarg, 1, RADIUS_MAX, &client->radius);
        else
            good = option != '?' && parse_blocks(optarg, &client->origin[option - 'x']);
    client->url = argv[optind];
    return good && argc - optind == 1 && strlen(client->url) < 512;
}

int main(int argc, char **argv)
{
    struct client client;
    if (!parse(&client, argc, argv)) {
        fprintf(stderr,
                "usage: %s [-s SPEED] [-t SECONDS] [-n SQUARES] [-r RADIUS] [-x X] [-y Y] URL\n"
                "URL: of a world, such as http://127.0.0.1:8080/default\n"
                "SPEED: blocks per second, up to 10000 (20); SECONDS: up to 3600 (10);\n"
                "SQUARES: ends when so many have arrived;\n"
                "RADIUS: blocks, up to %d (128); X, Y: start, whole blocks (0, 0)\n",
                argv[0], RADIUS_MAX);
        return 2;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const bool good = run(&client);
    ground_free(client.ground);
    curl_global_cleanup();
    farlands_scratch_free(client.scratch);
    farlands_world_free(client.world);
    free(client.latencies);
    return good ? 0 : 1;
}
