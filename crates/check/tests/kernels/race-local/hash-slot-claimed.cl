// check: --arg in=32:index --arg out=32 --global 32 --local 16
// Several work-items want one slot; only the winner of the compare-and-swap writes its value.
kernel void first_of_key(global const int *in, global int *out)
{
    local int keys[16], first[16];
    uint l = get_local_id(0), g = get_global_id(0);
    keys[l] = -1;
    first[l] = -1;
    barrier(CLK_LOCAL_MEM_FENCE);
    int key = in[g] % 5;
    if (atomic_cmpxchg(&keys[key], -1, key) == -1)
        first[key] = g;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[g] = first[l];
}
