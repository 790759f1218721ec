// check: --arg in=32:index --arg data=32 --arg flag=32 --arg out=32 --global 32 --local 16 -cl-std=CL3.0
// The atomics are relaxed, but fences stand before the store and after the load.
kernel void exchange(global const float *in, global float *data, global atomic_uint *flag, global float *out)
{
    size_t g = get_global_id(0), partner = g ^ 1;
    data[g] = in[g] + 0.5f;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_work_group);
    atomic_store_explicit(&flag[g], 1u, memory_order_relaxed, memory_scope_work_group);
    if (atomic_load_explicit(&flag[partner], memory_order_relaxed, memory_scope_work_group) == 1) {
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_work_group);
        out[g] = data[partner];
    }
}
