// check: --arg in=64:index --arg tmp=64 --arg out=64 --global 64 --local 16
// The barrier is taken for one of all groups: the mirrored element is another group's.
kernel void reverse(global const float *in, global float *tmp, global float *out)
{
    size_t g = get_global_id(0), n = get_global_size(0);
    tmp[g] = in[g] * in[g]; //~ race-groups
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[g] = tmp[n - 1 - g]; //~ race-groups
}
