// check: --arg out=28 --arg in=28:index --arg n=28 --global 32 --local 16
// Four work-items of the last group load nothing, and nobody reads what they did not load.
kernel void reverse_pairs(global int *out, global const int *in, int n) {
    local int tile[16];
    int l = get_local_id(0), i = get_global_id(0);
    if (i < n)
        tile[l] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n)
        out[i] = tile[l ^ 1];
}
