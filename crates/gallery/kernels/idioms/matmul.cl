// The product of two square matrices, by tiles in local memory. FLAT has tiles of one dimension.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif
#ifndef TILE
#define TILE 16
#endif

__kernel void matmul(__global const float *a, __global const float *b, __global float *c, const COUNT n)
{
    const INDEX x = get_global_id(0);
    const INDEX y = get_global_id(1);
    const INDEX lx = get_local_id(0);
    const INDEX ly = get_local_id(1);
#ifdef FLAT
    __local float a_tile[TILE * TILE];
    __local float b_tile[TILE * TILE];
#else
    __local float a_tile[TILE][TILE];
    __local float b_tile[TILE][TILE];
#endif
    float sum = 0.0f;

    for (INDEX t = 0; t < n; t += TILE) {
#ifdef FLAT
        a_tile[ly * TILE + lx] = y < n && t + lx < n ? a[y * n + t + lx] : 0.0f;
        b_tile[ly * TILE + lx] = x < n && t + ly < n ? b[(t + ly) * n + x] : 0.0f;
#else
        a_tile[ly][lx] = y < n && t + lx < n ? a[y * n + t + lx] : 0.0f;
        b_tile[ly][lx] = x < n && t + ly < n ? b[(t + ly) * n + x] : 0.0f;
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        for (INDEX k = 0; k < TILE; k++) {
#ifdef FLAT
            sum += a_tile[ly * TILE + k] * b_tile[k * TILE + lx];
#else
            sum += a_tile[ly][k] * b_tile[k][lx];
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (x < n && y < n)
        c[y * n + x] = sum;
}
