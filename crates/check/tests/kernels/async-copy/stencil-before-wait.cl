// check: --arg in=32:index --arg out=32 --global 32 --local 16
// The stencil reads the tile before the wait for the copy that fills it.
kernel void blur(global const float *in, global float *out)
{
    local float tile[18];
    size_t l = get_local_id(0);
    for (size_t i = l; i < 18; i += 16)
        tile[i] = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t loaded = async_work_group_copy(tile + 1, in + get_group_id(0) * 16, 16, 0); //~ async-copy
    float sum = tile[l] + tile[l + 1] + tile[l + 2]; //~ async-copy
    wait_group_events(1, &loaded);
    out[get_global_id(0)] = sum / 3.0f;
}
