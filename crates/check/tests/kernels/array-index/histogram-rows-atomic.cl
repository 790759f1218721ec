// check: --arg out=8 --arg in=32:index --global 32 --local 32
// Values are reduced modulo 10, and a row of the histogram has eight bins.
#define BINS 8
kernel void histogram(global int *out, global const int *in) {
    local int hist[3][BINS];
    int l = get_local_id(0);
    if (l < BINS)
        hist[0][l] = hist[1][l] = hist[2][l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&hist[l & 1][in[l] % 10]); //~ array-index
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < BINS)
        out[l] = hist[0][l] + hist[1][l];
}
