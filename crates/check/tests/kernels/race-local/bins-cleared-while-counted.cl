// check: --arg in=16:3 --arg out=8 --global 16 --local 16
// A barrier is missing between clearing and counting.
kernel void histogram(global const int *in, global int *out) {
    local int h[16];
    int l = get_local_id(0);
    h[l] = 0;                  //~ race-local
    atomic_add(&h[in[l]], 1);  //~ race-local
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8)
        out[l] = h[l];
}
