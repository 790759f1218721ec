// check: --arg in=32:index --arg out=32 --global 32 --local 16
// The wait begins in the middle of the list.
kernel void sums(global const int *in, global int *out)
{
    local int tiles[3][16];
    int l = get_local_id(0), row = get_group_id(0) * 16;
    event_t loaded[3];
    for (int i = 0; i < 3; i++)
        loaded[i] = async_work_group_copy(tiles[i], in + row, 16, 0);
    wait_group_events(1, loaded);
    wait_group_events(2, loaded + 1);
    out[row + l] = tiles[0][l] + tiles[2][15 - l];
}
