// check: --arg in=32:index --arg modes=2:index --arg out=32 --global 32 --local 16
// The condition is loaded by one work-item, which hands it to the group through local memory.
kernel void maybe_reverse(global const int *in, global const int *modes, global int *out)
{
    local int mode, tile[16];
    size_t l = get_local_id(0), g = get_global_id(0);
    tile[l] = in[g];
    if (l == 0)
        mode = modes[get_group_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mode != 0) {
        int v = tile[15 - l];
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[l] = v;
    }
    out[g] = tile[l];
}
