// The resampling of resample.cl on an image: its sampler repeats the last pixel beyond the edge and interpolates between
// four neighbours. A pixel of an image has its middle at a half.

#define PLACE(i, step) (((i) * (step) + (step) / 2) / 65536.0f)
#define PHASE(place) ((place) >> 10 & 63)

__constant sampler_t between = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

__kernel void resample_image(__read_only image2d_t in, int w, int h, __global float *out, int ow, int oh, unsigned step_x,
                             unsigned step_y, __global const float4 *table)
{
    const unsigned ox = get_global_id(0), oy = get_global_id(1);
    if (ox >= ow || oy >= oh)
        return;

    out[oy * ow + ox] = read_imagef(in, between, (float2)(PLACE(ox, step_x), PLACE(oy, step_y))).x;
}

// The B-spline out of four linear fetches, which are now one read each.
__kernel void resample_fast_image(__read_only image2d_t in, int w, int h, __global float *out, int ow, int oh, unsigned step_x,
                                  unsigned step_y, __global const float4 *table)
{
    const unsigned ox = get_global_id(0), oy = get_global_id(1);
    if (ox >= ow || oy >= oh)
        return;

    const int px = (int)(ox * step_x + step_x / 2) - 32768, py = (int)(oy * step_y + step_y / 2) - 32768;
    const float x = (px >> 16) + 0.5f, y = (py >> 16) + 0.5f;
    const float4 tx = table[PHASE(px)], ty = table[PHASE(py)];
    const float left = x - 1.0f + tx.x, right = x + 1.0f + tx.y, top = y - 1.0f + ty.x, bottom = y + 1.0f + ty.y;
    const float above = mix(read_imagef(in, between, (float2)(right, top)).x,
                            read_imagef(in, between, (float2)(left, top)).x, tx.z);
    const float below = mix(read_imagef(in, between, (float2)(right, bottom)).x,
                            read_imagef(in, between, (float2)(left, bottom)).x, tx.z);
    out[oy * ow + ox] = mix(below, above, ty.z);
}
