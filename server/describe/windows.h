/*
 * Measures the form of a world's ground (form.h) in windows around places on land: in mountains, in
 * hills and on plains. The same places give the same numbers with any number of threads.
 */
#ifndef FARLANDS_DESCRIBE_WINDOWS_H
#define FARLANDS_DESCRIBE_WINDOWS_H

#include "server/describe/form.h"
#include "server/world/world.h"

enum {
    WINDOWS_MOST = 6,     /* per class */
    WINDOWS_PLACES = 160, /* the most places that are tried */
};

/* By relief, the highest less the lowest of the land's heights, filtered to 768 m. */
enum window_class {
    WINDOW_MOUNTAINS, /* 1000 m or more */
    WINDOW_HILLS,     /* 200 m or more */
    WINDOW_PLAINS,    /* 20 m or more: a surveyed plain that is flatter shows its survey's noise */
    WINDOW_CLASSES
};

extern const char *const window_names[WINDOW_CLASSES];

struct windows {
    int count[WINDOW_CLASSES];                    /* windows, at most WINDOWS_MOST */
    double median[WINDOW_CLASSES][FORM_MEASURES]; /* NAN if no window has the measure */
};

/*
 * Measure windows of 24.6 km with their middles at the first WINDOWS_PLACES of PLACES places, in
 * units: the first ones in each class that do not overlap an earlier window of any class, and have
 * at least 60 % land. So places within 24.6 km have one window in all, which reaches beyond them.
 * Heights are exact, or the water's level if that is higher, 32 m apart and averaged (resample.h),
 * rounded to a foot as those of the surveys to compare with. Takes some 0.3 s per window, and 15 MB
 * per thread. Returns 0, -ENOMEM or -EAGAIN.
 */
int windows_measure(struct windows *out, const struct world *world, unsigned threads,
                    const int64_t (*place)[2], int places);

#endif
