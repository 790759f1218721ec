// check: --arg out=64 --arg in=64:index --arg t=18 --global 64 --local 16
// The tile has room for one element at each side; the first and the last work-item fill these.
kernel void smooth(global int *out, global const int *in, local int *t) {
    int l = get_local_id(0), i = get_global_id(0);
    int size = get_local_size(0), n = get_global_size(0);
    t[l + 1] = in[i];
    if (l == 0)
        t[0] = i > 0 ? in[i - 1] : 0;
    if (l == size - 1)
        t[size + 1] = i + 1 < n ? in[i + 1] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = t[l] + t[l + 1] + t[l + 2];
}
