// check: --arg in=32:index --arg out=32 --arg n=32 --global 64 --local 16
// The early return depends on the global id, but a group leaves as a whole: n is a multiple of its size.
kernel void reverse(global const int *in, global int *out, uint n)
{
    local int tile[16];
    uint l = get_local_id(0), g = get_global_id(0);
    if (g >= n)
        return;
    tile[l] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = tile[15 - l];
}
