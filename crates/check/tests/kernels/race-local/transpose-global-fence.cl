// check: --arg in=128:index --arg out=128 --global 16x8 --local 8x8
// The barrier orders global memory only, but the tile is in local memory.
kernel void transpose(global const float *in, global float *out)
{
    local float tile[8][9];
    size_t x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[get_global_id(1) * get_global_size(0) + get_global_id(0)]; //~ race-local
    barrier(CLK_GLOBAL_MEM_FENCE);
    size_t to_x = get_group_id(1) * 8 + x, to_y = get_group_id(0) * 8 + y;
    out[to_y * get_global_size(1) + to_x] = tile[x][y]; //~ race-local
}
