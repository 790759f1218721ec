// check: --arg in=32:index --arg out=32 --arg log=32 --arg verbose=0 --global 32 --local 16
// All work-items leave before the wait if nothing is to be logged.
kernel void halve(global const float *in, global float *out, global float *log, int verbose)
{
    local float tile[16];
    size_t l = get_local_id(0), base = get_group_id(0) * 16;
    tile[l] = in[base + l] * 0.5f;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t stored = async_work_group_copy(out + base, tile, 16, 0); //~ async-not-waited
    if (!verbose)
        return;
    wait_group_events(1, &stored);
    log[base + l] = out[base + 15 - l];
}
