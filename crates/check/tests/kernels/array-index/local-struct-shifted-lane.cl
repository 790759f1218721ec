// check: --arg out=32 --arg in=32:index --global 32 --local 16
// The last work-item of a group reads the lower bound behind the last one, which is an upper bound.
kernel void gaps(global int *out, global const int *in) {
    local struct {
        int low[16];
        int high[16];
    } range;
    int l = get_local_id(0), i = get_global_id(0);
    range.low[l] = 2 * in[i];
    range.high[l] = 2 * in[i] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = range.low[l + 1] - range.high[l]; //~ array-index
}
