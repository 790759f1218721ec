// A picture of w by h floats at another size. The position in the source of a pixel of the result is an integer in
// 65536ths of a pixel, so that every platform finds the same neighbours. Beyond the edge, the last pixel is repeated.

#define PLACE(i, step) ((int)((i) * (step) + (step) / 2) - 32768)
// One of the 64 rows of a table of weights.
#define PHASE(place) ((place) >> 10 & 63)

float source(__global const float *in, int w, int h, int x, int y)
{
    return in[clamp(y, 0, h - 1) * w + clamp(x, 0, w - 1)];
}

// Between four neighbours.
float linear_at(__global const float *in, int w, int h, int x, int y, float fx, float fy)
{
    const float above = mix(source(in, w, h, x, y), source(in, w, h, x + 1, y), fx);
    const float below = mix(source(in, w, h, x, y + 1), source(in, w, h, x + 1, y + 1), fx);
    return mix(above, below, fy);
}

__kernel void resample_bilinear(__global const float *in, int w, int h, __global float *out, int ow, int oh, unsigned step_x,
                                unsigned step_y, __global const float4 *table)
{
    const unsigned ox = get_global_id(0), oy = get_global_id(1);
    if (ox >= ow || oy >= oh)
        return;

    const int px = PLACE(ox, step_x), py = PLACE(oy, step_y);
    const float fx = (px & 65535) / 65536.0f, fy = (py & 65535) / 65536.0f;
    out[oy * ow + ox] = linear_at(in, w, h, px >> 16, py >> 16, fx, fy);
}

// A B-spline of sixteen neighbours out of four linear ones: of two neighbours whose weights have the same sign, a
// linear fetch at the right position between them yields the weighted mean. A row of the table: that position for the
// first two, for the last two, and the weight of the first two.
__kernel void resample_fast(__global const float *in, int w, int h, __global float *out, int ow, int oh, unsigned step_x,
                            unsigned step_y, __global const float4 *table)
{
    const unsigned ox = get_global_id(0), oy = get_global_id(1);
    if (ox >= ow || oy >= oh)
        return;

    const int px = PLACE(ox, step_x), py = PLACE(oy, step_y);
    const int x = px >> 16, y = py >> 16;
    const float4 tx = table[PHASE(px)], ty = table[PHASE(py)];
    const float above = mix(linear_at(in, w, h, x + 1, y - 1, tx.y, ty.x), linear_at(in, w, h, x - 1, y - 1, tx.x, ty.x), tx.z);
    const float below = mix(linear_at(in, w, h, x + 1, y + 1, tx.y, ty.y), linear_at(in, w, h, x - 1, y + 1, tx.x, ty.y), tx.z);
    out[oy * ow + ox] = mix(below, above, ty.z);
}

// Sixteen neighbours with the weights of a cubic that goes through the pixels. A row of the table: the weights of four
// neighbours.
__kernel void resample_table(__global const float *in, int w, int h, __global float *out, int ow, int oh, unsigned step_x,
                             unsigned step_y, __global const float4 *table)
{
    const unsigned ox = get_global_id(0), oy = get_global_id(1);
    if (ox >= ow || oy >= oh)
        return;

    const int px = PLACE(ox, step_x), py = PLACE(oy, step_y);
    const int x = px >> 16, y = py >> 16;
    const float4 tx = table[PHASE(px)], ty = table[PHASE(py)];
    float along[4];
    for (int k = 0; k < 4; k++)
        along[k] = tx.x * source(in, w, h, x - 1, y - 1 + k) + tx.y * source(in, w, h, x, y - 1 + k)
                   + tx.z * source(in, w, h, x + 1, y - 1 + k) + tx.w * source(in, w, h, x + 2, y - 1 + k);
    out[oy * ow + ox] = ty.x * along[0] + ty.y * along[1] + ty.z * along[2] + ty.w * along[3];
}
