// check: --arg in=32:1 --arg out=32 --global 32 --local 16
// The loop has no barrier, but one work-item runs all of it.
kernel void scan(global const int *in, global int *out)
{
    local int sums[16];
    size_t l = get_local_id(0), g = get_global_id(0);
    sums[l] = in[g];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        for (int i = 1; i < 16; i++)
            sums[i] += sums[i - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = sums[l];
}
