// check: --arg in=32:index --arg out=32 --global 32 --local 16
// There are two events, and the wait is for three.
kernel void sums(global const int *in, global int *out)
{
    local int tiles[2][16];
    int l = get_local_id(0), row = get_group_id(0) * 16;
    event_t loaded[2];
    for (int i = 0; i < 2; i++)
        loaded[i] = async_work_group_copy(tiles[i], in + row, 16, 0);
    wait_group_events(3, loaded); //~ out-of-bounds
    out[row + l] = tiles[0][l] + tiles[1][15 - l];
}
