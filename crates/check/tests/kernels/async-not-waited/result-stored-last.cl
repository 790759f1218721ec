// check: --arg in=32:index --arg out=32 --global 32 --local 16
// The kernel ends right after it starts the copy of the result.
kernel void square(global const int *in, global int *out)
{
    local int tile[16];
    size_t base = get_group_id(0) * 16, l = get_local_id(0);
    tile[l] = in[base + l] * in[base + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t stored = async_work_group_copy(out + base, tile, 16, 0); //~ async-not-waited
}
