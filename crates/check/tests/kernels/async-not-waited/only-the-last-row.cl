// check: --arg in=64:index --arg out=64 --global 16 --local 16
// One event variable for four copies: only the last one is waited for.
kernel void add_one(global const int *in, global int *out)
{
    local int tile[4][16];
    size_t l = get_local_id(0);
    event_t stored;
    for (int row = 0; row < 4; row++)
        tile[row][l] = in[row * 16 + l] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int row = 0; row < 4; row++)
        stored = async_work_group_copy(out + row * 16, tile[row], 16, 0); //~ async-not-waited
    wait_group_events(1, &stored);
}
