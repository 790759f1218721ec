// check: --arg in=96:index --arg out=16 --arg tiles=4 --global 16 --local 16
// Two buffers, one barrier a tile: but the tile that is fetched replaces the one that others still read.
kernel void sum_tiles(global const float *in, global float *out, int tiles)
{
    local float buf[2][16];
    int l = get_local_id(0);
    buf[0][l] = in[l];
    buf[1][l] = in[16 + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int t = 0; t < tiles; t++) {
        sum += buf[t & 1][15 - l];             //~ race-local
        buf[t & 1][l] = in[(t + 2) * 16 + l]; //~ race-local
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = sum;
}
