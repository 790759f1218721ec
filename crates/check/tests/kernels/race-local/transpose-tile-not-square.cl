// check: --arg in=128:index --arg out=128 --global 16x8 --local 8x4
// A tile of 8 by 4 is read as 4 by 8, after a barrier for local memory. The padding is never read.
kernel void transpose(global const int *in, global int *out)
{
    local int tile[4][9];
    uint x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[get_global_id(1) * 16 + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i = y * 8 + x;
    uint tx = i % 4, ty = i / 4;
    out[(get_group_id(0) * 8 + ty) * 8 + get_group_id(1) * 4 + tx] = tile[tx][ty];
}
