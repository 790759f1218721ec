// check: --arg in=32:index --arg out=32 --global 32 --local 16
// The barrier is in a helper function that only the lower half of the group calls.
int swap_with_neighbour(local int *tile, uint l, int v)
{
    tile[l] = v;
    barrier(CLK_LOCAL_MEM_FENCE); //~ barrier-divergence
    return tile[l ^ 1];
}

kernel void swap_pairs(global const int *in, global int *out)
{
    local int tile[16];
    uint l = get_local_id(0), g = get_global_id(0);
    int v = in[g];
    if (l < 8)
        v = swap_with_neighbour(tile, l, v);
    out[g] = v;
}
