// check: --arg in=20:index --arg out=20 --arg n=20 --global 32 --local 16
// Work-items beyond the end skip the load and the store, but not the barrier.
kernel void differences(global const int *in, global int *out, uint n)
{
    local int tile[16];
    uint l = get_local_id(0), g = get_global_id(0);
    if (g < n)
        tile[l] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (g < n)
        out[g] = l > 0 ? tile[l] - tile[l - 1] : tile[l];
}
