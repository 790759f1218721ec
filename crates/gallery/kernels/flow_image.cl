// The kernels of flow.cl that read frames, on images: the sampler clamps coordinates and interpolates.

__constant sampler_t pixel = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant sampler_t between = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

float at(__read_only image2d_t in, int x, int y)
{
    return read_imagef(in, pixel, (int2)(x, y)).x;
}

// Half the size in each direction: the Gaussian of five by five taps at every second pixel.
__kernel void flow_down_image(__read_only image2d_t in, __write_only image2d_t out, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= (w + 1) / 2 || y >= (h + 1) / 2)
        return;
    const float taps[5] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };
    float sum = 0.0f;
    for (int j = 0; j < 5; j++) {
        float row = 0.0f;
        for (int k = 0; k < 5; k++)
            row += taps[k] * at(in, 2 * x + k - 2, 2 * y + j - 2);
        sum += taps[j] * row;
    }
    write_imagef(out, (int2)(x, y), (float4)(sum, 0.0f, 0.0f, 1.0f));
}

__kernel void flow_gradient_image(__read_only image2d_t in, __global float *gradient, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    const float nw = at(in, x - 1, y - 1), n = at(in, x, y - 1), ne = at(in, x + 1, y - 1);
    const float sw = at(in, x - 1, y + 1), s = at(in, x, y + 1), se = at(in, x + 1, y + 1);
    const int i = y * w + x;
    gradient[i] = (3.0f * (ne - nw + se - sw) + 10.0f * (at(in, x + 1, y) - at(in, x - 1, y))) * 0.03125f;
    gradient[w * h + i] = (3.0f * (sw - nw + se - ne) + 10.0f * (s - n)) * 0.03125f;
}

__kernel void flow_warp_image(__read_only image2d_t first, __read_only image2d_t second, __global const float *gradient,
                              __global const float *flow, __global float *products, int w, int h)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    const float2 f = (float2)(flow[y * w + x], flow[w * h + y * w + x]);
    const float2 to = (float2)(x, y) + f;
    const float2 off = fabs(to - clamp(to, 0.0f, (float2)(w - 1, h - 1)));
    claim(read_imagef(second, between, to + 0.5f).x, at(first, x, y), max(off.x, off.y), gradient, f.x, f.y, products, x, y,
          w, h);
}
