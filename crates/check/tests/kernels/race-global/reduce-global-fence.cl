// check: --arg in=32:index --arg scratch=32 --arg out=2 --global 32 --local 16
// The sums of a group are in global memory, ordered by barriers for global memory.
kernel void reduce(global const int *in, global int *scratch, global int *out)
{
    size_t l = get_local_id(0), g = get_global_id(0);
    scratch[g] = in[g] * in[g];
    for (size_t s = 8; s > 0; s >>= 1) {
        barrier(CLK_GLOBAL_MEM_FENCE);
        if (l < s)
            scratch[g] += scratch[g + s];
    }
    if (l == 0)
        out[get_group_id(0)] = scratch[g];
}
