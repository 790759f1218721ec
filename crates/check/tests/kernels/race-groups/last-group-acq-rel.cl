// check: --arg in=64:index --arg partial=4 --arg done=1 --arg out=1 --global 64 --local 16 -cl-std=CL3.0
// The last group reads the partial sums of all others, which the counter releases and acquires.
kernel void sum(global const int *in, global int *partial, global atomic_uint *done, global int *out)
{
    uint groups = get_num_groups(0), before;
    int s = work_group_reduce_add(in[get_global_id(0)]);
    if (get_local_id(0) != 0)
        return;
    partial[get_group_id(0)] = s;
    before = atomic_fetch_add_explicit(done, 1u, memory_order_acq_rel, memory_scope_device);
    if (before == groups - 1) {
        int total = 0;
        for (uint i = 0; i < groups; i++)
            total += partial[i];
        out[0] = total;
    }
}
