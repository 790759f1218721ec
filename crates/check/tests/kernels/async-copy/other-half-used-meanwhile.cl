// check: --arg in=64:index --arg out=32 --global 32 --local 16
// The first half of the tile is complete and read while the second one is on its way.
kernel void pairs(global const int *in, global int *out)
{
    local int tile[32];
    size_t l = get_local_id(0), base = get_group_id(0) * 32;
    event_t first = async_work_group_copy(tile, in + base, 16, 0);
    event_t second = async_work_group_copy(tile + 16, in + base + 16, 16, 0);
    wait_group_events(1, &first);
    int sum = tile[l] + tile[15 - l];
    wait_group_events(1, &second);
    out[get_global_id(0)] = sum * tile[16 + l];
}
