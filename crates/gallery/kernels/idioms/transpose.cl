// A matrix turned over its diagonal: directly, or with LOCAL_TILE through a padded tile in local memory.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif
#ifndef TILE
#define TILE 16
#endif

__kernel void transpose(__global const float *in, __global float *out, const COUNT width, const COUNT height)
{
#ifdef LOCAL_TILE
    __local float tile[TILE][TILE + 1];
    INDEX x = get_global_id(0);
    INDEX y = get_global_id(1);

    if (x < width && y < height)
        tile[get_local_id(1)][get_local_id(0)] = in[y * width + x];
    barrier(CLK_LOCAL_MEM_FENCE);

    x = get_group_id(1) * TILE + get_local_id(0);
    y = get_group_id(0) * TILE + get_local_id(1);
    if (x < height && y < width)
        out[y * height + x] = tile[get_local_id(0)][get_local_id(1)];
#else
    const INDEX x = get_global_id(0);
    const INDEX y = get_global_id(1);

    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
#endif
}
