// check: --arg in=64:index --arg out=64 --global 64 --local 16
// Half of the group believes that the row has 8 elements.
kernel void shift(global const int *in, global int *out)
{
    local int tile[16];
    int l = get_local_id(0), row = get_group_id(0) * 16;
    event_t loaded = async_work_group_copy(tile, in + row, l < 8 ? 16 : 8, 0); //~ barrier-divergence
    wait_group_events(1, &loaded);
    out[row + l] = tile[(l + 1) % 16];
}
