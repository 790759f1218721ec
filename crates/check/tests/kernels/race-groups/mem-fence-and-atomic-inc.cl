// check: --arg in=64:index --arg partial=4 --arg done=1 --arg out=1 --global 64 --local 16
// mem_fence orders within a group only, so that atomic_inc does not publish the partial sum to other groups.
kernel void sum(global const int *in, global int *partial, volatile global uint *done, global int *out)
{
    local int s;
    if (get_local_id(0) == 0)
        s = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&s, in[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        partial[get_group_id(0)] = s; //~ race-groups
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        if (atomic_inc(done) == get_num_groups(0) - 1) {
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            for (size_t i = 0; i < get_num_groups(0); i++)
                out[0] += partial[i]; //~ race-groups
        }
    }
}
