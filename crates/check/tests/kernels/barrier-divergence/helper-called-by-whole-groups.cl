// check: --arg in=48:index --arg out=48 --arg first=1 --global 48 --local 16
// The barrier is in a helper function, behind a condition on the group and an argument.
int neighbour(local int *tile, int v)
{
    size_t l = get_local_id(0);
    tile[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    return tile[l ^ 1];
}

kernel void swap_pairs(global const int *in, global int *out, uint first)
{
    local int tile[16];
    size_t g = get_global_id(0);
    out[g] = get_group_id(0) >= first && first != 0 ? neighbour(tile, in[g]) : in[g];
}
