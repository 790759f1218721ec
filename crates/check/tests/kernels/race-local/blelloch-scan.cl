// check: --arg in=32:1 --arg out=32 --arg t=32 --global 16 --local 16
// Up-sweep and down-sweep: a barrier at the head of each level. The root is set by the work-item that computed it.
kernel void scan(global const int *in, global int *out, local int *t)
{
    int l = get_local_id(0), step = 1;
    t[2 * l] = in[2 * l];
    t[2 * l + 1] = in[2 * l + 1];
    for (int d = 16; d > 0; d >>= 1, step *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d)
            t[step * (2 * l + 2) - 1] += t[step * (2 * l + 1) - 1];
    }
    if (l == 0)
        t[31] = 0;
    for (int d = 1; d < 32; d *= 2) {
        step >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < d) {
            int left = t[step * (2 * l + 1) - 1];
            t[step * (2 * l + 1) - 1] = t[step * (2 * l + 2) - 1];
            t[step * (2 * l + 2) - 1] += left;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[2 * l] = t[2 * l];
    out[2 * l + 1] = t[2 * l + 1];
}
