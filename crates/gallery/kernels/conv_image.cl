// The convolution of conv.cl on images: what is read beyond the edge is the sampler's affair. CHANNELS floats a pixel are
// what the image's format says.

#define RADIUS (TAPS / 2)

#if CHANNELS == 1
#define KEPT(v) (v).x
typedef float pixel;
#elif CHANNELS == 2
#define KEPT(v) (v).xy
typedef float2 pixel;
#else
#define KEPT(v) (v)
typedef float4 pixel;
#endif

__constant float filter[TAPS] = { FILTER };
__constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

float4 whole(pixel v)
{
#if CHANNELS == 1
    return (float4)(v, 0.0f, 0.0f, 1.0f);
#elif CHANNELS == 2
    return (float4)(v, 0.0f, 1.0f);
#else
    return v;
#endif
}

__kernel void conv_x_image(__read_only image2d_t in, __write_only image2d_t out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;

    pixel sum = 0.0f;
    for (int t = 0; t < TAPS; t++)
        sum += filter[t] * KEPT(read_imagef(in, edge, (int2)(x + t - RADIUS, y)));
    write_imagef(out, (int2)(x, y), whole(sum));
}

__kernel void conv_y_image(__read_only image2d_t in, __write_only image2d_t out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;

    pixel sum = 0.0f;
    for (int t = 0; t < TAPS; t++)
        sum += filter[t] * KEPT(read_imagef(in, edge, (int2)(x, y + t - RADIUS)));
    write_imagef(out, (int2)(x, y), whole(sum));
}
