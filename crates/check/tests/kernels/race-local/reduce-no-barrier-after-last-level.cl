// check: --arg in=32:index --arg out=2 --global 32 --local 16
// The barrier after the last level is left out: the work-item that reads the result computed it.
kernel void reduce(global const float *in, global float *out)
{
    local float least[16];
    size_t l = get_local_id(0);
    least[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t s = 8; s > 0; s >>= 1) {
        if (l < s)
            least[l] = fmin(least[l], least[l + s]);
        if (s > 1)
            barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = least[0];
}
