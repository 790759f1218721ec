// check: --arg out=64 --arg in=64:index --arg t=16 --global 64 --local 16
// The tile needs an element more than the group has work-items; the host passes as many as the group has.
kernel void backward_sum(global int *out, global const int *in, local int *t) {
    int l = get_local_id(0);
    int i = get_global_id(0);
    t[l + 1] = in[i]; //~ out-of-bounds
    if (l == 0)
        t[0] = i > 0 ? in[i - 1] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l] + t[l + 1]; //~ out-of-bounds
}
