// check: --arg in=8:1 --arg out=1 --global 8 --local 8
// The work-item that clears the counter counts, too: its own atomic operation does not order its plain store.
kernel void sum(global const int *in, global int *out) {
    local int h;
    int l = get_local_id(0);
    if (l == 0)
        h = 0;             //~ race-local
    atomic_add(&h, in[l]); //~ race-local
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        out[0] = h;
}
