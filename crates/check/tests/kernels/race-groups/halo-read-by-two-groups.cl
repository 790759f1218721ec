// check: --arg in=320:index --arg out=256 --global 16x16 --local 8x8
// Tiles overlap where they are read; where they are written they do not.
kernel void box(global const float *in, global float *out)
{
    local float tile[8][10];
    size_t x = get_local_id(0), y = get_local_id(1), gy = get_global_id(1);
    for (size_t i = x; i < 10; i += 8)
        tile[y][i] = in[gy * 20 + get_group_id(0) * 8 + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[gy * 16 + get_global_id(0)] = (tile[y][x] + tile[y][x + 1] + tile[y][x + 2]) / 3.0f;
}
