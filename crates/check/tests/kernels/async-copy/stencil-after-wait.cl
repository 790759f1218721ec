// check: --arg in=32:index --arg out=32 --global 32 --local 16
// The halo is cleared while the copy fills the part between; the stencil waits.
kernel void blur(global const float *in, global float *out)
{
    local float tile[18];
    size_t l = get_local_id(0);
    event_t loaded = async_work_group_copy(tile + 1, in + get_group_id(0) * 16, 16, 0);
    if (l == 0)
        tile[0] = 0.0f;
    if (l == 15)
        tile[17] = 0.0f;
    wait_group_events(1, &loaded);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = (tile[l] + tile[l + 1] + tile[l + 2]) / 3.0f;
}
