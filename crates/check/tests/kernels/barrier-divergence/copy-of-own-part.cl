// check: --arg in=64:index --arg out=64 --global 64 --local 16
// Each work-item asks for its own element, as if the copy were its own. The group makes one copy.
kernel void twice(global const int *in, global int *out)
{
    local int tile[16];
    int l = get_local_id(0);
    event_t loaded = async_work_group_copy(tile + l, in + get_global_id(0), 1, 0); //~ barrier-divergence
    wait_group_events(1, &loaded);
    out[get_global_id(0)] = 2 * tile[l];
}
