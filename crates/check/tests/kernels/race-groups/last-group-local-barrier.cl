// check: --arg in=64:index --arg partial=4 --arg done=1 --arg out=1 --global 64 --local 16 -cl-std=CL3.0
// One work-item acquires the partial sums; the barrier does not pass that on to the others, as it orders local memory only.
kernel void sum(global const int *in, global int *partial, global atomic_uint *done, global atomic_int *out)
{
    local int last;
    uint l = get_local_id(0), group = get_group_id(0), groups = get_num_groups(0);
    int s = work_group_reduce_add(in[get_global_id(0)]);
    if (l == group) {
        partial[group] = s; //~ race-groups
        last = atomic_fetch_add_explicit(done, 1u, memory_order_acq_rel, memory_scope_device) == groups - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last && l < groups) {
        int part = partial[l]; //~ race-groups
        atomic_fetch_add_explicit(out, part, memory_order_relaxed, memory_scope_device);
    }
}
