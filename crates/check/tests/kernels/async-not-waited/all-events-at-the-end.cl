// check: --arg in=64:index --arg out=64 --global 16 --local 16
// Four copies are on their way at once; one wait at the end is for all events of the array.
kernel void stairs(global const int *in, global int *out)
{
    local int tile[4][16];
    size_t l = get_local_id(0);
    event_t stored[4];
    for (int row = 0; row < 4; row++) {
        tile[row][l] = in[row * 16 + l] * row;
        barrier(CLK_LOCAL_MEM_FENCE);
        stored[row] = async_work_group_copy(out + row * 16, tile[row], 16, 0);
    }
    wait_group_events(4, stored);
}
