// check: --arg in=64:index --arg partial=4 --arg done=1 --arg out=64 --global 64 --local 16 -cl-std=CL3.0
// One work-item acquires, and the barrier for global memory passes that on to its group.
kernel void sum(global const int *in, global int *partial, global atomic_uint *done, global int *out)
{
    local int last;
    uint l = get_local_id(0), groups = get_num_groups(0);
    int s = work_group_reduce_add(in[get_global_id(0)]);
    if (l == 0) {
        partial[get_group_id(0)] = s;
        last = atomic_fetch_add_explicit(done, 1u, memory_order_acq_rel, memory_scope_device) == groups - 1;
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (last)
        for (uint i = l; i < 64; i += 16)
            out[i] = partial[i % groups];
}
