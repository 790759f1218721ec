// check: --arg in=64:index --arg out=64 --global 16 --local 16
// One event variable for four copies: each joins the event of the one before.
kernel void add_one(global const int *in, global int *out)
{
    local int tile[4][16];
    size_t l = get_local_id(0);
    event_t stored = 0;
    for (int row = 0; row < 4; row++)
        tile[row][l] = in[row * 16 + l] + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int row = 0; row < 4; row++)
        stored = async_work_group_copy(out + row * 16, tile[row], 16, stored);
    wait_group_events(1, &stored);
}
