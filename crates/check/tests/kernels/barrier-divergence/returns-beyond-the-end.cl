// check: --arg in=20:index --arg out=20 --arg n=20 --global 32 --local 16
// In the last group the work-items beyond the end leave, and the others wait for them.
kernel void differences(global const int *in, global int *out, uint n)
{
    local int tile[16];
    uint l = get_local_id(0), g = get_global_id(0);
    if (g >= n)
        return;
    tile[l] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    out[g] = l > 0 ? tile[l] - tile[l - 1] : tile[l];
}
