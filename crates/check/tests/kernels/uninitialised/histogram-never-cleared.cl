// check: --arg out=16 --arg in=64:index --global 64 --local 64
// The bins in local memory are counted up from whatever is there.
kernel void histogram(global int *out, global const int *in) {
    local int bins[16];
    int l = get_local_id(0);
    atomic_inc(&bins[in[l] & 15]); //~ uninitialised
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        out[l] = bins[l]; //~ uninitialised
}
