// check: --arg in=64:index --arg out=16 --arg tiles=4 --global 16 --local 16
// The last round prefetches the first tile once more, and no one waits for it.
kernel void sum_tiles(global const int *in, global int *out, int tiles)
{
    local int buf[2][16];
    size_t l = get_local_id(0);
    int sum = 0;
    event_t loaded = async_work_group_copy(buf[0], in, 16, 0);
    for (int t = 0; t < tiles; t++) {
        wait_group_events(1, &loaded);
        barrier(CLK_LOCAL_MEM_FENCE);
        int next = (t + 1) % tiles;
        loaded = async_work_group_copy(buf[(t + 1) & 1], in + next * 16, 16, 0); //~ async-not-waited
        sum += buf[t & 1][15 - l];
    }
    out[l] = sum;
}
