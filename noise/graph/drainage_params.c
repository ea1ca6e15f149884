#include "drainage_params.h"

#include "noise/exact/arithmetic.h"
#include "noise/fractal/params.h"

const char *drainage_fault(const struct drainage_params *p, const char **key)
{
    *key = "levels";
    if (!(p->levels >= 2 && p->levels <= DRAINAGE_MAX_LEVELS))
        return "expected 2 to 12";
    *key = "spacing";
    const int64_t last = p->spacing >> (p->levels - 1);
    if (!(p->spacing <= FARLANDS_UNIT << 18 && last >= FARLANDS_UNIT << 4 &&
          last <= FARLANDS_UNIT << 12) ||
        (p->spacing & (p->spacing - 1)) != 0)
        return "expected a power of two, at most 262144 blocks, and 16 to 4096 on the last level";
    return NULL;
}
