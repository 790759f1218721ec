// check: --arg in=32:index --arg out=32 --arg check=32 --global 32 --local 16
// The copied elements are read back from global memory before the wait.
kernel void store_and_check(global const int *in, global int *out, global int *check)
{
    local int tile[16];
    size_t l = get_local_id(0), base = get_group_id(0) * 16;
    tile[l] = in[base + l] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t stored = async_work_group_copy(out + base, tile, 16, 0); //~ async-copy
    int back = out[base + 15 - l]; //~ async-copy
    wait_group_events(1, &stored);
    check[base + l] = back == tile[15 - l];
}
