// check: --arg in=64:index --arg out=16 --arg tiles=4 --global 16 --local 16
// The next tile is fetched into the one buffer that is still read.
kernel void sum_tiles(global const float *in, global float *out, int tiles)
{
    local float tile[16];
    size_t l = get_local_id(0);
    float sum = 0.0f;
    event_t loaded = async_work_group_copy(tile, in, 16, 0);
    wait_group_events(1, &loaded);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int t = 1; t < tiles; t++) {
        loaded = async_work_group_copy(tile, in + t * 16, 16, 0); //~ async-copy
        sum += tile[15 - l]; //~ async-copy
        wait_group_events(1, &loaded);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[l] = sum + tile[l];
}
