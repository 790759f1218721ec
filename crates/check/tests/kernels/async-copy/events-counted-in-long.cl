// check: --arg in=8:index --arg out=8 --global 8 --local 4
// The number of events may have any integer type.
kernel void copy(global const int *in, global int *out) {
    local int t[4];
    event_t e[2];
    ulong n = 0;
    e[n++] = async_work_group_copy(t, in + 4 * get_group_id(0), 4, 0);
    wait_group_events(n, e);
    out[get_global_id(0)] = t[3 - get_local_id(0)];
}
