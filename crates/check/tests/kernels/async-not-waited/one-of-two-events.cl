// check: --arg in=32:index --arg low=32 --arg high=32 --global 32 --local 16
// Two events, but the number of events of the wait is one.
kernel void split(global const ushort *in, global uchar *low, global uchar *high)
{
    local uchar a[16], b[16];
    size_t l = get_local_id(0), base = get_group_id(0) * 16;
    event_t events[2];
    a[l] = in[base + l] & 15;
    b[l] = in[base + l] >> 4;
    barrier(CLK_LOCAL_MEM_FENCE);
    events[0] = async_work_group_copy(low + base, a, 16, 0);
    events[1] = async_work_group_strided_copy(high + base, b, 16, 1, 0); //~ async-not-waited
    wait_group_events(1, events);
}
