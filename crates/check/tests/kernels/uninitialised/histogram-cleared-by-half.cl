// check: --arg out=32 --arg in=32:index --global 32 --local 32
// Sixteen work-items clear two bins each; a barrier is before the first count.
kernel void histogram(global int *out, global const int *in) {
    local int bins[32];
    int l = get_local_id(0);
    if (l < 16) {
        bins[l] = 0;
        bins[31 - l] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[(7 * in[l]) & 31]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = bins[l];
}
