// A weighted mean of 3x3 neighbours; the edge is copied. FLAT takes a range of one dimension, CLAMPED repeats the edge
// instead.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void stencil(__global const float *in, __global float *out, const COUNT width, const COUNT height)
{
#ifdef FLAT
    const INDEX i = get_global_id(0);
    const INDEX x = i % width;
    const INDEX y = i / width;
#else
    const INDEX x = get_global_id(0);
    const INDEX y = get_global_id(1);
#endif

    if (x >= width || y >= height)
        return;

#ifdef CLAMPED
    const INDEX left = x > 0 ? x - 1 : 0;
    const INDEX right = x + 1 < width ? x + 1 : x;
    const INDEX above = y > 0 ? y - 1 : 0;
    const INDEX below = y + 1 < height ? y + 1 : y;
    const float corners = in[above * width + left] + in[above * width + right] + in[below * width + left]
                        + in[below * width + right];
    const float sides = in[above * width + x] + in[below * width + x] + in[y * width + left] + in[y * width + right];
    out[y * width + x] = 0.25f * in[y * width + x] + 0.125f * sides + 0.0625f * corners;
#else
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        out[y * width + x] = in[y * width + x];
        return;
    }
    float sum = 0.25f * in[y * width + x];
    sum += 0.125f * (in[(y - 1) * width + x] + in[(y + 1) * width + x]);
    sum += 0.125f * (in[y * width + x - 1] + in[y * width + x + 1]);
    sum += 0.0625f * (in[(y - 1) * width + x - 1] + in[(y - 1) * width + x + 1]);
    sum += 0.0625f * (in[(y + 1) * width + x - 1] + in[(y + 1) * width + x + 1]);
    out[y * width + x] = sum;
#endif
}
