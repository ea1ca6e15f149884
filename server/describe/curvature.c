#include "curvature.h"

#include <math.h>

enum { REACH = 4, TAPS = 2 * REACH + 1 };

static const double SKEWNESS_MOST = 4;

/* A Gaussian with deviation 1, and its second derivative. */
struct kernel {
    float smooth[TAPS], second[TAPS];
};

static struct kernel make_kernel(void)
{
    struct kernel kernel;
    double sum = 0;
    for (int k = -REACH; k <= REACH; k++)
        sum += exp(-k * k / 2.0);
    for (int k = -REACH; k <= REACH; k++) {
        const double weight = exp(-k * k / 2.0) / sum;
        kernel.smooth[k + REACH] = (float)weight;
        kernel.second[k + REACH] = (float)(weight * (k * k - 1));
    }
    return kernel;
}

/* The sum of WEIGHTS times the values around number I of COUNT, STRIDE apart. */
static float weigh(const float *values, int i, int count, int stride, const float weights[TAPS])
{
    float sum = 0;
    for (int k = -REACH; k <= REACH; k++) {
        const int at = i + k < 0 ? 0 : i + k >= count ? count - 1 : i + k;
        sum += weights[k + REACH] * values[at * stride];
    }
    return sum;
}

void curvature_find(const float *heights, int width, int height, float *curvature, float *memory)
{
    const struct kernel kernel = make_kernel();
    float *const smooth = memory, *const second = memory + width * height;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const float *row = heights + y * width;
            smooth[y * width + x] = weigh(row, x, width, 1, kernel.smooth);
            second[y * width + x] = weigh(row, x, width, 1, kernel.second);
        }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            curvature[y * width + x] = weigh(smooth + x, y, height, width, kernel.second) +
                                       weigh(second + x, y, height, width, kernel.smooth);
}

double curvature_skewness(const float *values, const uint8_t *chosen, int count)
{
    double mean = 0, second = 0, third = 0;
    int number = 0;
    for (int i = 0; i < count; i++)
        if (chosen[i]) {
            mean += (double)values[i];
            number++;
        }
    if (number == 0)
        return (double)NAN;
    mean /= number;
    for (int i = 0; i < count; i++)
        if (chosen[i]) {
            const double off = (double)values[i] - mean;
            second += off * off / number;
            third += off * off * off / number;
        }
    const double skewness = second > 0 ? third / (second * sqrt(second)) : 0;
    return fmin(fmax(skewness, -SKEWNESS_MOST), SKEWNESS_MOST);
}
