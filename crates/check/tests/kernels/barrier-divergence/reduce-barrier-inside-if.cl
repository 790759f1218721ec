// check: --arg in=32:index --arg out=2 --global 32 --local 16
// Only the work-items that add reach the barrier between the levels.
kernel void reduce(global const int *in, global int *out)
{
    local int buf[16];
    size_t l = get_local_id(0);
    buf[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t s = 8; s > 0; s >>= 1)
        if (l < s) {
            buf[l] += buf[l + s];
            barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
        }
    if (l == 0)
        out[get_group_id(0)] = buf[0];
}
