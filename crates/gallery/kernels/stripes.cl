// Stripes of 2^PARAM columns are brightened and darkened in turn. What matters is whether work-items that run in step
// take different branches: narrow stripes make both branches run for all of them, wide ones do not.

unsigned brighten(unsigned pixel)
{
    uint4 p = convert_uint4(as_uchar4(pixel));
    // Repeated so that the branch is worth something.
    for (int i = 0; i < ROUNDS; i++)
        p.xyz = min(p.xyz + p.xyz / 16 + 1, 255u);
    return as_uint(convert_uchar4(p));
}

unsigned darken(unsigned pixel)
{
    uint4 p = convert_uint4(as_uchar4(pixel));
    for (int i = 0; i < ROUNDS; i++)
        p.xyz -= (p.xyz + 15) / 16;
    return as_uint(convert_uchar4(p));
}

__kernel void stripes_ocl(__global unsigned *in, __global unsigned *out)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);

    if (x >= WIDTH || y >= HEIGHT)
        return;

    if (x >> PARAM & 1)
        out[y * WIDTH + x] = darken(in[y * WIDTH + x]);
    else
        out[y * WIDTH + x] = brighten(in[y * WIDTH + x]);
}

// How many of the columns left .. left + n - 1 are dark ones.
int dark_before(int left, int n)
{
    const int period = 2 << PARAM;
    const int end = left + n;
    const int whole_end = end / period * (period / 2) + max(end % period - period / 2, 0);
    const int whole_left = left / period * (period / 2) + max(left % period - period / 2, 0);
    return whole_end - whole_left;
}

// The work-items of a group's row first sort the row's pixels in local memory, bright ones first, so that adjacent
// work-items take the same branch except where the two meet; then the pixels return to their columns.
__kernel void stripes_ocl_opt(__global unsigned *in, __global unsigned *out)
{
    __local unsigned tile[TILE_H][TILE_W];
    const int x = get_global_id(0), y = get_global_id(1);
    const int lx = get_local_id(0), ly = get_local_id(1);
    const int left = x - lx;
    const int bright = TILE_W - dark_before(left, TILE_W);
    const int before = dark_before(left, lx);
    // The position of this column's pixel in the sorted row.
    const int sorted = x >> PARAM & 1 ? bright + before : lx - before;

    if (x < WIDTH && y < HEIGHT)
        tile[ly][sorted] = in[y * WIDTH + x];
    else
        tile[ly][sorted] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    if (lx < bright)
        tile[ly][lx] = brighten(tile[ly][lx]);
    else
        tile[ly][lx] = darken(tile[ly][lx]);
    barrier(CLK_LOCAL_MEM_FENCE);

    if (x < WIDTH && y < HEIGHT)
        out[y * WIDTH + x] = tile[ly][sorted];
}
