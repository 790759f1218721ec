// check: --arg in=4:index --arg result=4 --arg state=4 --arg out=4 --global 4 --local 1 -cl-std=CL3.0
// The flag has the scope of the device, but the fences around it have the scope of one group.
kernel void look_back(global const int *in, global int *result, global atomic_int *state, global int *out)
{
    size_t group = get_group_id(0);
    result[group] = in[group] * 10; //~ race-groups
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_work_group);
    atomic_store_explicit(&state[group], 1, memory_order_relaxed, memory_scope_device);
    if (group == 0)
        return;
    if (atomic_load_explicit(&state[group - 1], memory_order_relaxed, memory_scope_device) == 1) {
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_work_group);
        out[group] = result[group - 1]; //~ race-groups
    }
}
