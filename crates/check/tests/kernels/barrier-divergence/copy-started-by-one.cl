// check: --arg in=32:index --arg sums=2 --global 32 --local 16
// The copy is one of the whole group, but only one work-item starts it.
kernel void sum(global const int *in, global int *sums)
{
    local int tile[16];
    if (get_local_id(0) == 0) {
        event_t loaded = async_work_group_copy(tile, in + get_group_id(0) * 16, 16, 0); //~ barrier-divergence
        wait_group_events(1, &loaded);
        int s = 0;
        for (int i = 0; i < 16; i++)
            s += tile[i];
        sums[get_group_id(0)] = s;
    }
}
