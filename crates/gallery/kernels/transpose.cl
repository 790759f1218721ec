// Transposition of a matrix of 32-bit elements: WIDTH columns and HEIGHT rows become HEIGHT columns and WIDTH rows.
//
// If reads are along rows, writes are along columns. The tiled kernels transpose a tile in local memory, so that both
// are along rows; a column of a tile is then in one bank of a GPU's local memory unless its rows have an odd length.

__kernel void transpose_ocl_naive(__global unsigned *in, __global unsigned *out)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);

    if (x < WIDTH && y < HEIGHT)
        out[x * HEIGHT + y] = in[y * WIDTH + x];
}

// The other way round: the range is that of the result, which is written along rows.
__kernel void transpose_ocl_naive_write(__global unsigned *in, __global unsigned *out)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);

    if (x < HEIGHT && y < WIDTH)
        out[y * HEIGHT + x] = in[x * WIDTH + y];
}

// Moves the tile of group (gx, gy) through `tile`, whose rows have `row` elements. Any shape of group: a tile of TILE_W
// by TILE_H is written as one of TILE_H by TILE_W.
void move_tile(__global unsigned *in, __global unsigned *out, __local unsigned *tile, int row, int gx, int gy)
{
    const int lx = get_local_id(0);
    const int ly = get_local_id(1);
    const int x = gx * TILE_W + lx;
    const int y = gy * TILE_H + ly;

    if (x < WIDTH && y < HEIGHT)
        tile[ly * row + lx] = in[y * WIDTH + x];

    barrier(CLK_LOCAL_MEM_FENCE);

    const int l = ly * TILE_W + lx;
    const int tx = l % TILE_H;
    const int ty = l / TILE_H;
    const int ox = gy * TILE_H + tx;
    const int oy = gx * TILE_W + ty;

    if (ox < HEIGHT && oy < WIDTH)
        out[oy * HEIGHT + ox] = tile[tx * row + ty];
}

__kernel void transpose_ocl(__global unsigned *in, __global unsigned *out)
{
    __local unsigned tile[TILE_H * TILE_W];
    move_tile(in, out, tile, TILE_W, get_group_id(0), get_group_id(1));
}

__kernel void transpose_ocl_pad(__global unsigned *in, __global unsigned *out)
{
    __local unsigned tile[TILE_H * (TILE_W + 1)];
    move_tile(in, out, tile, TILE_W + 1, get_group_id(0), get_group_id(1));
}

// Groups that run at the same time take tiles along a diagonal, so that they do not all write to the same partition of
// memory.
__kernel void transpose_ocl_diag(__global unsigned *in, __global unsigned *out)
{
    __local unsigned tile[TILE_H * (TILE_W + 1)];
    const int nx = get_num_groups(0);
    const int ny = get_num_groups(1);
    const int id = get_group_id(1) * nx + get_group_id(0);
    const int gy = id % ny;
    const int gx = (id / ny + gy) % nx;
    move_tile(in, out, tile, TILE_W + 1, gx, gy);
}

// Tiles of SIDE by SIDE, whatever the shape of the group: with fewer rows than the tile, each work-item moves several
// elements.
#define SIDE 32

void move_square(__global unsigned *in, __global unsigned *out, __local unsigned *tile, int row, int gx, int gy)
{
    for (int j = get_local_id(1); j < SIDE; j += TILE_H)
        for (int i = get_local_id(0); i < SIDE; i += TILE_W) {
            const int x = gx * SIDE + i, y = gy * SIDE + j;
            if (x < WIDTH && y < HEIGHT)
                tile[j * row + i] = in[y * WIDTH + x];
        }

    barrier(CLK_LOCAL_MEM_FENCE);

    for (int j = get_local_id(1); j < SIDE; j += TILE_H)
        for (int i = get_local_id(0); i < SIDE; i += TILE_W) {
            const int x = gy * SIDE + i, y = gx * SIDE + j;
            if (x < HEIGHT && y < WIDTH)
                out[y * HEIGHT + x] = tile[i * row + j];
        }
}

__kernel void transpose_ocl_32(__global unsigned *in, __global unsigned *out)
{
    __local unsigned tile[SIDE * SIDE];
    move_square(in, out, tile, SIDE, get_group_id(0), get_group_id(1));
}

__kernel void transpose_ocl_32_pad(__global unsigned *in, __global unsigned *out)
{
    __local unsigned tile[SIDE * (SIDE + 1)];
    move_square(in, out, tile, SIDE + 1, get_group_id(0), get_group_id(1));
}

__kernel void transpose_ocl_32_diag(__global unsigned *in, __global unsigned *out)
{
    __local unsigned tile[SIDE * (SIDE + 1)];
    const int nx = get_num_groups(0), ny = get_num_groups(1);
    const int id = get_group_id(1) * nx + get_group_id(0);
    const int gy = id % ny;
    move_square(in, out, tile, SIDE + 1, (id / ny + gy) % nx, gy);
}
