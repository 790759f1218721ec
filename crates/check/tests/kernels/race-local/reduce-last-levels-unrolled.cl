// check: --arg in=32:index --arg out=4 --global 32 --local 8
// The last levels rely on work-items that run in step: without a barrier nothing orders them.
kernel void reduce_max(global const int *in, global int *out)
{
    local volatile int best[8];
    uint l = get_local_id(0);
    best[l] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 4) {
        best[l] = max(best[l], best[l + 4]); //~ race-local
        best[l] = max(best[l], best[l + 2]); //~ race-local
        best[l] = max(best[l], best[l + 1]); //~ race-local
    }
    if (l == 0)
        out[get_group_id(0)] = best[0];
}
