// check: --arg in=32:index --arg out=32 --global 32 --local 16
// One helper function starts the copy and another one waits.
event_t start(global int *to, local const int *from)
{
    return async_work_group_copy(to, from, 16, 0);
}

void finish(event_t e)
{
    wait_group_events(1, &e);
}

kernel void negate(global const int *in, global int *out)
{
    local int tile[16];
    size_t base = get_group_id(0) * 16, l = get_local_id(0);
    tile[l] = -in[base + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    finish(start(out + base, tile));
}
