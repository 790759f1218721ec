// Every tile of the picture gets its average colour, by a sum that the work-items of a group make together in local
// memory. The picture's last column and row of tiles may be partial; groups may have any number of work-items.

uint4 load(__global unsigned *in, int x, int y)
{
    // The last component counts the pixels.
    if (x >= WIDTH || y >= HEIGHT)
        return (uint4)(0);
    uint4 p = convert_uint4(as_uchar4(in[y * WIDTH + x]));
    p.w = 1;
    return p;
}

unsigned average(uint4 sum)
{
    const uint4 a = sum / sum.w;
    return as_uint((uchar4)(a.x, a.y, a.z, 255));
}

// One pixel a work-item; the sum goes over columns, then over rows.
__kernel void pixelize_ocl(__global unsigned *in, __global unsigned *out)
{
    __local uint4 tile[TILE_H][TILE_W];
    const int x = get_global_id(0), y = get_global_id(1);
    const int lx = get_local_id(0), ly = get_local_id(1);

    tile[ly][lx] = load(in, x, y);
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int n = TILE_H; n > 1; n = (n + 1) / 2) {
        const int half_n = (n + 1) / 2;
        if (ly < n - half_n)
            tile[ly][lx] += tile[ly + half_n][lx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int n = TILE_W; n > 1; n = (n + 1) / 2) {
        const int half_n = (n + 1) / 2;
        if (ly == 0 && lx < n - half_n)
            tile[0][lx] += tile[0][lx + half_n];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = average(tile[0][0]);
}

// The same, the tile taken as one row.
__kernel void pixelize_ocl_1d(__global unsigned *in, __global unsigned *out)
{
    __local uint4 tile[TILE_H * TILE_W];
    const int x = get_global_id(0), y = get_global_id(1);
    const int l = get_local_id(1) * TILE_W + get_local_id(0);

    tile[l] = load(in, x, y);

    for (int n = TILE_H * TILE_W; n > 1; n = (n + 1) / 2) {
        const int half_n = (n + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < n - half_n)
            tile[l] += tile[l + half_n];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = average(tile[0]);
}

#ifdef PARAM
// Tiles of PARAM by PARAM pixels, larger than a group: each work-item first sums its share.
__kernel void pixelize_ocl_big(__global unsigned *in, __global unsigned *out)
{
    __local uint4 part[TILE_H * TILE_W];
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int left = get_group_id(0) * PARAM, top = get_group_id(1) * PARAM;
    const int l = ly * TILE_W + lx;
    uint4 sum = (uint4)(0);

    for (int y = ly; y < PARAM; y += TILE_H)
        for (int x = lx; x < PARAM; x += TILE_W)
            sum += load(in, left + x, top + y);
    part[l] = sum;

    for (int n = TILE_H * TILE_W; n > 1; n = (n + 1) / 2) {
        const int half_n = (n + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < n - half_n)
            part[l] += part[l + half_n];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const unsigned colour = average(part[0]);
    for (int y = top + ly; y < min(top + PARAM, HEIGHT); y += TILE_H)
        for (int x = left + lx; x < min(left + PARAM, WIDTH); x += TILE_W)
            out[y * WIDTH + x] = colour;
}
#endif
