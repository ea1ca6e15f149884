/*
 * Common to the responses about places: /height and /heights, /spawn, /downstream. Each is a
 * streamed job with one piece, computed on a render thread. Private to points.c, spawns.c and
 * courses.c.
 */
#ifndef FARLANDS_API_POINT_WORK_H
#define FARLANDS_API_POINT_WORK_H

#include "server/api/handlers.h"
#include "server/api/streamed_job.h"
#include "server/world/run_kind.h"

/* Bytes that a job about one place and its response take at most, not counting lists. */
enum { PLACE_MEMORY = 1024 };

/* Fields to compute at a place, each once, and where their values go. */
struct place_fields {
    int field[1 + CLIMATE_FIELDS + WATER_FIELDS + ROUTE_FIELDS_MAX], count;
    float *out[1 + CLIMATE_FIELDS + WATER_FIELDS + ROUTE_FIELDS_MAX];
    float *surface; /* has the height, and gets the surface; NULL without */
};

void place_fields_add(struct place_fields *fields, int field, float *out);

/* Add the fields of WORLD's climate and water, if it has them. */
void place_fields_add_climate(struct place_fields *fields, const struct world *world,
                              float value[CLIMATE_FIELDS]);
void place_fields_add_water(struct place_fields *fields, const struct world *world,
                            float value[WATER_FIELDS]);

/* Compute FIELDS at a place, which is within the limits. Returns 0 or a negative code. */
int place_fields_compute(const struct place_fields *fields, const struct farlands_terrain *terrain,
                         struct render_scratch *scratch, const int64_t at[2]);

/* Part of a job's work: SUBJECT in TERRAIN; otherwise as streamed_job_kind.work. */
typedef int points_work(void *subject, const struct farlands_terrain *terrain,
                        struct render_scratch *scratch, struct blob **out, void *turn);

/* Do WORK with WORLD's terrain, which is held no longer than a slice: waiting jobs hold none. */
int points_compute(const struct world *world, points_work *work, void *subject,
                   struct render_scratch *scratch, struct blob **out, void *turn);

/* Respond with BODY, a document of TYPE. PACKED is BODY compressed by CODING, or NULL. */
void points_send(struct request_context *context, const struct world *world, const char *type,
                 struct blob *body, enum coding coding, struct blob *packed);

/* Begin SPEC, whose subject is NULL if out of memory. RUN describes the job (run_kind.h). */
void points_begin(struct service *service, struct request_context *context,
                  const struct world *world, const struct run_of *run,
                  struct streamed_job_spec *spec);

#endif
