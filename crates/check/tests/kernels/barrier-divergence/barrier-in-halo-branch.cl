// check: --arg in=160:index --arg out=128 --global 16x8 --local 8x4
// The first row loads the halo and waits in its branch; the other rows wait after it.
kernel void down(global const float *in, global float *out)
{
    local float tile[5][8];
    size_t x = get_local_id(0), y = get_local_id(1), gx = get_global_id(0), gy = get_global_id(1);
    tile[y][x] = in[gy * 16 + gx];
    if (y == 0) {
        tile[4][x] = in[(gy + 4) * 16 + gx];
        barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    }
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    out[gy * 16 + gx] = tile[y + 1][x] - tile[y][x];
}
