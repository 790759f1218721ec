// check: --arg in=32:index --arg out=32 --arg mirrored=32 --arg store=1 --global 32 --local 16
// The copy and the wait stand in branches of their own, which are both taken or both not.
kernel void square(global const int *in, global int *out, global int *mirrored, int store)
{
    local int tile[16];
    size_t base = get_group_id(0) * 16, l = get_local_id(0);
    event_t stored = 0;
    tile[l] = in[base + l] * in[base + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (store)
        stored = async_work_group_copy(out + base, tile, 16, 0);
    mirrored[base + l] = tile[15 - l];
    if (store)
        wait_group_events(1, &stored);
}
