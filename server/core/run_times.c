#include "run_times.h"

enum {
    WEIGHT_SHIFT = 3,      /* an average covers about the last 2^3 runs */
    US_SHIFT = 4,          /* averages are in units of 2^-4 microseconds */
    LONGEST_US = 60000000, /* longer runs count as this */
};

/* Where KIND is, or would be. */
static struct run_time *place_of(const struct run_times *times, uint64_t kind)
{
    return (struct run_time *)&times->time[kind % RUN_TIMES];
}

static uint32_t known(const struct run_times *times, uint64_t kind)
{
    const struct run_time *time = place_of(times, kind);

    return time->kind == kind ? time->us_16 : 0;
}

uint32_t run_times_expect(const struct run_times *times, struct run_kind kind)
{
    uint32_t us_16 = known(times, kind.kind);

    if (us_16 == 0)
        us_16 = known(times, kind.family);
    if (us_16 == 0)
        return RUN_TIME_GUESS_US;
    return us_16 >> US_SHIFT ? us_16 >> US_SHIFT : 1;
}

static void learn(struct run_times *times, uint64_t kind, uint32_t us_16)
{
    struct run_time *time = place_of(times, kind);

    if (time->kind != kind || time->us_16 == 0)
        *time = (struct run_time){kind, us_16};
    else
        time->us_16 += (us_16 >> WEIGHT_SHIFT) - (time->us_16 >> WEIGHT_SHIFT);
    if (time->us_16 == 0)
        time->us_16 = 1;
}

void run_times_learn(struct run_times *times, struct run_kind kind, uint64_t us)
{
    const uint32_t us_16 = (uint32_t)(us < LONGEST_US ? us : LONGEST_US) << US_SHIFT;

    learn(times, kind.kind, us_16);
    if (kind.family != kind.kind)
        learn(times, kind.family, us_16);
}
