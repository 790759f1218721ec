// A Gaussian blur, four ways. A picture has WIDTH by HEIGHT floats; beyond the edge, the last one is repeated.

// The weights of 2 RADIUS + 1 neighbours.
__constant float weights[2 * RADIUS + 1] = { WEIGHTS };

// The sum over a square around the pixel.
__kernel void gauss_direct(__global const float *in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;

    float sum = 0.0f;
    for (int dy = -RADIUS; dy <= RADIUS; dy++) {
        __global const float *row = in + clamp(y + dy, 0, HEIGHT - 1) * WIDTH;
        float along = 0.0f;
        for (int dx = -RADIUS; dx <= RADIUS; dx++)
            along += weights[dx + RADIUS] * row[clamp(x + dx, 0, WIDTH - 1)];
        sum += weights[dy + RADIUS] * along;
    }
    out[y * WIDTH + x] = sum;
}

// Rows, then columns.
__kernel void gauss_rows(__global const float *in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;

    float sum = 0.0f;
    for (int d = -RADIUS; d <= RADIUS; d++)
        sum += weights[d + RADIUS] * in[y * WIDTH + clamp(x + d, 0, WIDTH - 1)];
    out[y * WIDTH + x] = sum;
}

__kernel void gauss_columns(__global const float *in, __global float *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;

    float sum = 0.0f;
    for (int d = -RADIUS; d <= RADIUS; d++)
        sum += weights[d + RADIUS] * in[clamp(y + d, 0, HEIGHT - 1) * WIDTH + x];
    out[y * WIDTH + x] = sum;
}

// The recursive filter of Young and van Vliet: from one end to the other each result follows from the pixel and the
// three results before, then the same back again. Whatever sigma is, a pixel costs the same.
void recursive(__global const float *in, __global float *out, int n, int step)
{
    float a = in[0], b = a, c = a;
    for (int i = 0; i < n; i++) {
        const float v = B * in[i * step] + (A1 * a + A2 * b + A3 * c);
        out[i * step] = v;
        c = b, b = a, a = v;
    }
    b = c = a;
    for (int i = n - 1; i >= 0; i--) {
        const float v = B * out[i * step] + (A1 * a + A2 * b + A3 * c);
        out[i * step] = v;
        c = b, b = a, a = v;
    }
}

// A work-item a column: neighbours are side by side in memory.
__kernel void gauss_down(__global const float *in, __global float *out, int width, int height)
{
    const int x = get_global_id(0);
    if (x < width)
        recursive(in + x, out + x, height, width);
}

// A work-item a row: neighbours are a row apart.
__kernel void gauss_along(__global const float *in, __global float *out, int width, int height)
{
    const int y = get_global_id(0);
    if (y < height)
        recursive(in + y * width, out + y * width, width, 1);
}

// A transposition, so that rows can be processed as columns. Groups of SIDE by SIDE.
#define SIDE 16
__kernel void gauss_transpose(__global const float *in, __global float *out, int width, int height)
{
    __local float tile[SIDE][SIDE + 1];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int left = get_group_id(0) * SIDE, top = get_group_id(1) * SIDE;

    if (left + lx < width && top + ly < height)
        tile[ly][lx] = in[(top + ly) * width + left + lx];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (top + lx < height && left + ly < width)
        out[(left + ly) * height + top + lx] = tile[lx][ly];
}

// The same, of a band of rows on one device of several; see `bands`. Its row 0 is the picture's row `top`.
__kernel void gauss_rows_band(__global const float *in, __global float *out, int first, int top)
{
    const int x = get_global_id(0), y = first + get_global_id(1);
    float sum = 0.0f;
    for (int d = -RADIUS; d <= RADIUS; d++)
        sum += weights[d + RADIUS] * in[y * WIDTH + clamp(x + d, 0, WIDTH - 1)];
    out[y * WIDTH + x] = sum;
}

__kernel void gauss_columns_band(__global const float *in, __global float *out, int first, int top)
{
    const int x = get_global_id(0), y = first + get_global_id(1);
    float sum = 0.0f;
    for (int d = -RADIUS; d <= RADIUS; d++)
        sum += weights[d + RADIUS] * in[(clamp(top + y + d, 0, HEIGHT - 1) - top) * WIDTH + x];
    out[y * WIDTH + x] = sum;
}
