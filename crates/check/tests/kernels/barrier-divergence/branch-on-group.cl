// check: --arg in=32:index --arg out=32 --global 32 --local 16
// The branch with the barrier is taken by whole groups.
kernel void reverse_odd_groups(global const int *in, global int *out)
{
    local int tile[16];
    size_t l = get_local_id(0), g = get_global_id(0);
    int v = in[g];
    if (get_group_id(0) & 1) {
        tile[l] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v = tile[15 - l];
    }
    out[g] = v;
}
