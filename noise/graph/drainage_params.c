#include "drainage_params.h"

#include "noise/exact/arithmetic.h"
#include "noise/fractal/params.h"

const char *drainage_fault(const struct drainage_params *p, const char **key)
{
    *key = "levels";
    if (!(p->levels >= 1 && p->levels <= DRAINAGE_MAX_LEVELS))
        return "expected 1 to 12";
    *key = "spacing";
    if (!(p->spacing <= FARLANDS_UNIT << 18 && p->spacing >= FARLANDS_UNIT << (p->levels + 3)) ||
        (p->spacing & (p->spacing - 1)) != 0)
        return "expected a power of two, at most 262144 blocks, and at least 16 on the last level";
    return NULL;
}
