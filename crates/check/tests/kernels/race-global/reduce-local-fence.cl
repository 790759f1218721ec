// check: --arg in=32:index --arg scratch=32 --arg out=2 --global 32 --local 16
// The partial sums are in global memory, but the barriers order local memory.
kernel void reduce(global const int *in, global int *scratch, global int *out)
{
    size_t l = get_local_id(0), g = get_global_id(0);
    scratch[g] = in[g] * in[g]; //~ race-global
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t s = 8; s > 0; s >>= 1) {
        if (l < s)
            scratch[g] += scratch[g + s]; //~ race-global
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0)
        out[get_group_id(0)] = scratch[g];
}
