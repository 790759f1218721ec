// check: --arg in=16:index --arg out=16 --global 16 --local 16
// Both halves of the group wait, but at different barriers.
kernel void halves(global const int *in, global int *out)
{
    local int sum_low, sum_high;
    uint l = get_local_id(0);
    if (l == 0)
        sum_low = 0;
    if (l == 8)
        sum_high = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8) {
        atomic_add(&sum_low, in[l]);
        barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
        out[l] = atomic_or(&sum_low, 0);
    } else {
        atomic_add(&sum_high, in[l]);
        barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
        out[l] = atomic_or(&sum_high, 0);
    }
}
