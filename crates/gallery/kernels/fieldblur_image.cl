// fieldblur_direct on an image of four floats a pixel, without a halo: the sampler repeats the edge.

__constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void fieldblur_image(__read_only image2d_t in, __global float4 *out, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;

    const float r = radius_at(x, y);
    const float low = r * LOW, high = r * HIGH;
    const int last = (int)floor(high + 0.5f);
    float4 sum = 0.0f;
    for (int dy = (int)ceil(low - 0.5f); dy <= last; dy++) {
        const float from = fmax(dy - 0.5f, low), to = fmin(dy + 0.5f, high);
        const float middle = 0.5f * (from + to);
        const float xl = left_end(r, middle), xr = fmax(right_end(r, middle), xl);
        const int end = (int)floor(xr + 0.5f);
        float4 part = 0.0f;
        for (int dx = (int)floor(xl + 0.5f); dx <= end; dx++)
            part += fmax(fmin(dx + 0.5f, xr) - fmax(dx - 0.5f, xl), 0.0f) * read_imagef(in, edge, (int2)(x + dx, y + dy));
        sum += (to - from) * part;
    }
    out[y * w + x] = mean(sum);
}
