// The product of two square matrices, by tiles in local memory. Each work-item has a block of ROWS by COLUMNS sums in a
// private array, which lives across the barriers; its elements are a group's size apart.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif
#ifndef TILE
#define TILE 16
#endif
#ifndef ROWS
#define ROWS 4
#define COLUMNS 4
#endif

__kernel void blocking(__global const float *a, __global const float *b, __global float *c, const COUNT n)
{
    const INDEX lx = get_local_id(0);
    const INDEX ly = get_local_id(1);
    const INDEX x = get_group_id(0) * (TILE * COLUMNS) + lx;
    const INDEX y = get_group_id(1) * (TILE * ROWS) + ly;
    __local float a_tile[TILE * ROWS][TILE];
    __local float b_tile[TILE][TILE * COLUMNS];
    float sum[ROWS][COLUMNS];

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            sum[i][j] = 0.0f;

    for (INDEX t = 0; t < n; t += TILE) {
        for (int i = 0; i < ROWS; i++)
            a_tile[ly + i * TILE][lx] = y + i * TILE < n && t + lx < n ? a[(y + i * TILE) * n + t + lx] : 0.0f;
        for (int j = 0; j < COLUMNS; j++)
            b_tile[ly][lx + j * TILE] = x + j * TILE < n && t + ly < n ? b[(t + ly) * n + x + j * TILE] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; k++) {
            for (int i = 0; i < ROWS; i++) {
                const float left = a_tile[ly + i * TILE][k];
                for (int j = 0; j < COLUMNS; j++)
                    sum[i][j] += left * b_tile[k][lx + j * TILE];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            if (x + j * TILE < n && y + i * TILE < n)
                c[(y + i * TILE) * n + x + j * TILE] = sum[i][j];
}
