// check: --arg in=64:index --arg out=64 --global 64 --local 16
// The row of the last group is shorter: all its work-items give the same number.
kernel void shift(global const int *in, global int *out)
{
    local int tile[16];
    int l = get_local_id(0), row = get_group_id(0) * 16;
    int n = get_group_id(0) == get_num_groups(0) - 1 ? 12 : 16;
    event_t loaded = async_work_group_copy(tile, in + row, n, 0);
    wait_group_events(1, &loaded);
    out[row + l] = tile[(l + 1) % n];
}
