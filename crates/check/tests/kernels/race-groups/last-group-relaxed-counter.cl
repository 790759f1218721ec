// check: --arg in=64:index --arg partial=4 --arg done=1 --arg out=1 --global 64 --local 16 -cl-std=CL3.0
// The last group adds up the partial sums; the counter that tells it so is relaxed and orders nothing.
kernel void sum(global const int *in, global int *partial, global atomic_uint *done, global int *out)
{
    uint groups = get_num_groups(0), before;
    int s = work_group_reduce_add(in[get_global_id(0)]);
    if (get_local_id(0) != 0)
        return;
    partial[get_group_id(0)] = s; //~ race-groups
    before = atomic_fetch_add_explicit(done, 1u, memory_order_relaxed, memory_scope_device);
    if (before == groups - 1) {
        int total = 0;
        for (uint i = 0; i < groups; i++)
            total += partial[i]; //~ race-groups
        out[0] = total;
    }
}
