// check: --arg in=32:index --arg data=32 --arg flag=32 --arg out=32 --global 32 --local 16 -cl-std=CL3.0
// Partners exchange data without a barrier: a release store and an acquire load order it, also at the scope of the group.
kernel void exchange(global const int *in, global int *data, global atomic_int *flag, global int *out)
{
    size_t g = get_global_id(0), partner = g ^ 1;
    data[g] = in[g] * in[g];
    atomic_store_explicit(&flag[g], 1, memory_order_release, memory_scope_work_group);
    if (atomic_load_explicit(&flag[partner], memory_order_acquire, memory_scope_work_group) == 1)
        out[g] = data[partner];
}
