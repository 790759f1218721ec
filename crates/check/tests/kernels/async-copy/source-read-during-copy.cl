// check: --arg in=32:index --arg out=32 --global 32 --local 16
// The source is read while the copy reads it too: no one writes it.
kernel void reverse_sum(global const int *in, global int *out)
{
    local int tile[16];
    size_t l = get_local_id(0), base = get_group_id(0) * 16;
    event_t loaded = async_work_group_copy(tile, in + base, 16, 0);
    int mine = in[base + l];
    wait_group_events(1, &loaded);
    out[base + l] = mine + tile[15 - l];
}
