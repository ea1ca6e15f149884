/* Values as integers over a range. */
#include "paint.h"

/* 0 to MOST; 0 for NAN. */
static inline float place(float value, float min, float scale, float most)
{
    const float at = (value - min) * scale + 0.5f, above = at > 0 ? at : 0;
    return above < most ? above : most;
}

MULTIVERSION
void samples_16(const float *values, size_t count, struct value_range range, uint16_t *out)
{
    const float scale = 65535 / (range.max - range.min);

    for (size_t i = 0; i < count; i++)
        out[i] = (uint16_t)(int)place(values[i], range.min, scale, 65535);
}

MULTIVERSION
void samples_8(const float *values, size_t count, struct value_range range, uint8_t *out)
{
    const float scale = 255 / (range.max - range.min);

    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)(int)place(values[i], range.min, scale, 255);
}
