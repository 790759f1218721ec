// check: --arg in=64:index --arg out=64 --global 64 --local 16
// Groups pass the barrier different numbers of times, work-items of one group do not.
kernel void rotate(global const int *in, global int *out)
{
    local int tile[2][16];
    uint l = get_local_id(0), g = get_global_id(0), from = 0;
    tile[0][l] = in[g];
    for (uint i = 0; i < get_group_id(0); i++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[from ^ 1][l] = tile[from][(l + 1) % 16];
        from ^= 1;
    }
    out[g] = tile[from][l];
}
