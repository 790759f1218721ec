// check: --arg in=32:index --arg doubled=32 --arg tripled=32 --global 32 --local 16
// The tile is filled anew only after the copy out of it is complete.
kernel void multiples(global const int *in, global int *doubled, global int *tripled)
{
    local int tile[16];
    size_t l = get_local_id(0), base = get_group_id(0) * 16;
    event_t stored;
    tile[l] = in[base + l] * 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    stored = async_work_group_copy(doubled + base, tile, 16, 0);
    wait_group_events(1, &stored);
    barrier(CLK_LOCAL_MEM_FENCE);
    tile[l] = in[base + l] * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    stored = async_work_group_copy(tripled + base, tile, 16, 0);
    wait_group_events(1, &stored);
}
