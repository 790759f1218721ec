// check: --arg queue=32:index --arg out=32 --global 32 --local 16
// The elements are cleared in global memory before the copy of them is complete.
kernel void drain(global int *queue, global int *out)
{
    local int batch[16];
    size_t l = get_local_id(0), base = get_group_id(0) * 16;
    event_t loaded = async_work_group_copy(batch, queue + base, 16, 0); //~ async-copy
    queue[base + l] = -1; //~ async-copy
    wait_group_events(1, &loaded);
    out[base + l] = batch[15 - l];
}
