// check: --arg in=32:index --arg out=32 --arg passes=2 --global 32 --local 16
// Barriers in a branch and a loop on arguments of the kernel.
kernel void shift(global const int *in, global int *out, int passes)
{
    local int tile[16];
    uint l = get_local_id(0), g = get_global_id(0);
    int v = in[g];
    if (passes > 0)
        for (int p = 0; p < passes; p++) {
            tile[l] = v;
            barrier(CLK_LOCAL_MEM_FENCE);
            v = tile[(l + 1) % 16];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    out[g] = v;
}
