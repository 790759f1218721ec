// check: --arg out=16 --arg in=16:index --global 8 --local 4
// Each group copies its tile to the same place: no wait orders two groups.
kernel void gather(global int *out, global const int *in) {
    local int t[4];
    t[get_local_id(0)] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t e = async_work_group_copy(out, t, 4, 0); //~ race-groups
    wait_group_events(1, &e);
}
