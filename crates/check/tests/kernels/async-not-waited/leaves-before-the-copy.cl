// check: --arg in=32:index --arg out=32 --arg n=32 --global 64 --local 16
// Groups beyond the end leave before any copy starts; the others wait.
kernel void square(global const int *in, global int *out, uint n)
{
    local int tile[16];
    size_t base = get_group_id(0) * 16, l = get_local_id(0);
    if (base >= n)
        return;
    tile[l] = in[base + l] * in[base + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t stored = async_work_group_copy(out + base, tile, 16, 0);
    wait_group_events(1, &stored);
}
