// check: --arg out=64 --arg in=65:index --global 64 --local 16
// The tile has room for the element behind the group's last one, but no work-item loads it.
kernel void pair_sums(global int *out, global const int *in) {
    local int tile[17];
    int l = get_local_id(0), i = get_global_id(0);
    tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    int right = tile[l + 1];
    out[i] = tile[l] + right; //~ uninitialised
}
