// Convolution of pictures with a filter of TAPS numbers along rows (X) or columns (Y), beyond the edge the last pixel
// is repeated. FILTER holds the numbers, so that the compiler knows each of them. A picture has WIDTH by HEIGHT pixels
// of CHANNELS floats; the third dimension of the range counts the pictures of a batch.

#define RADIUS (TAPS / 2)

#if CHANNELS == 1
typedef float pixel;
#elif CHANNELS == 2
typedef float2 pixel;
#else
typedef float4 pixel;
#endif

__constant float filter[TAPS] = { FILTER };

#define ROW(y) ((get_global_id(2) * HEIGHT + (y)) * WIDTH)

__kernel void conv_x_direct(__global const pixel *in, __global pixel *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;

    __global const pixel *row = in + ROW(y);
    pixel sum = 0.0f;
    for (int t = 0; t < TAPS; t++)
        sum += filter[t] * row[clamp(x + t - RADIUS, 0, WIDTH - 1)];
    out[ROW(y) + x] = sum;
}

// The group loads its part of the row, and the pixels left and right of it, into local memory: some work-items load
// twice.
__kernel void conv_x_local(__global const pixel *in, __global pixel *out)
{
    __local pixel tile[TILE_H][TILE_W + 2 * RADIUS];
    const int x = get_global_id(0), y = get_global_id(1);
    const int lx = get_local_id(0), ly = get_local_id(1);
    __global const pixel *row = in + ROW(min(y, HEIGHT - 1));

    for (int i = lx; i < TILE_W + 2 * RADIUS; i += TILE_W)
        tile[ly][i] = row[clamp(x - lx + i - RADIUS, 0, WIDTH - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);

    if (x >= WIDTH || y >= HEIGHT)
        return;
    pixel sum = 0.0f;
    for (int t = 0; t < TAPS; t++)
        sum += filter[t] * tile[ly][lx + t];
    out[ROW(y) + x] = sum;
}

// The group has a work-item for each pixel that it needs; the outer ones only load.
__kernel void conv_x_extra(__global const pixel *in, __global pixel *out)
{
    __local pixel tile[TILE_H][TILE_W + 2 * RADIUS];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int x = (int)get_group_id(0) * TILE_W + lx - RADIUS, y = get_global_id(1);

    tile[ly][lx] = in[ROW(min(y, HEIGHT - 1)) + clamp(x, 0, WIDTH - 1)];
    barrier(CLK_LOCAL_MEM_FENCE);

    if (lx < RADIUS || lx >= RADIUS + TILE_W || x >= WIDTH || y >= HEIGHT)
        return;
    pixel sum = 0.0f;
    for (int t = 0; t < TAPS; t++)
        sum += filter[t] * tile[ly][lx + t - RADIUS];
    out[ROW(y) + x] = sum;
}

__kernel void conv_y_direct(__global const pixel *in, __global pixel *out)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= WIDTH || y >= HEIGHT)
        return;

    pixel sum = 0.0f;
    for (int t = 0; t < TAPS; t++)
        sum += filter[t] * in[ROW(clamp(y + t - RADIUS, 0, HEIGHT - 1)) + x];
    out[ROW(y) + x] = sum;
}

// A work-item goes down ROLL rows and keeps the pixels that the filter covers: each row is read once.
__kernel void conv_y_rolling(__global const pixel *in, __global pixel *out)
{
    const int x = get_global_id(0), top = get_global_id(1) * ROLL;
    if (x >= WIDTH || top >= HEIGHT)
        return;

    pixel window[TAPS];
    for (int t = 0; t < TAPS - 1; t++)
        window[t + 1] = in[ROW(clamp(top + t - RADIUS, 0, HEIGHT - 1)) + x];
    for (int y = top; y < min(top + ROLL, HEIGHT); y++) {
        pixel sum = 0.0f;
        for (int t = 0; t < TAPS - 1; t++)
            window[t] = window[t + 1];
        window[TAPS - 1] = in[ROW(min(y + TAPS - 1 - RADIUS, HEIGHT - 1)) + x];
        for (int t = 0; t < TAPS; t++)
            sum += filter[t] * window[t];
        out[ROW(y) + x] = sum;
    }
}
