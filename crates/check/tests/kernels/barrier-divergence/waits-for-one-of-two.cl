// check: --arg a=32:index --arg b=32:index --arg out=32 --global 32 --local 16
// Each half of the group waits for the copy that it reads.
kernel void choose(global const int *a, global const int *b, global int *out)
{
    local int tiles[2][16];
    int l = get_local_id(0), row = get_group_id(0) * 16;
    event_t loaded[2];
    loaded[0] = async_work_group_copy(tiles[0], a + row, 16, 0);
    loaded[1] = async_work_group_copy(tiles[1], b + row, 16, 0);
    wait_group_events(1, &loaded[l < 8 ? 0 : 1]); //~ barrier-divergence
    out[row + l] = tiles[l < 8 ? 0 : 1][l];
}
