// check: --arg in=32:index --arg lock=1 --arg total=1 --arg missed=1 --global 32 --local 8 -cl-std=CL3.0
// The lock is taken with acquire order, but given back with relaxed order: the next owner is not ordered after this one.
kernel void sum(global const int *in, global atomic_int *lock, global int *total, global atomic_int *missed)
{
    int expected = 0, s = work_group_reduce_add(in[get_global_id(0)]);
    if (get_local_id(0) != 0)
        return;
    if (atomic_compare_exchange_strong_explicit(lock, &expected, 1, memory_order_acquire,
                                                memory_order_relaxed, memory_scope_device)) {
        total[0] += s; //~ race-groups
        atomic_store_explicit(lock, 0, memory_order_relaxed, memory_scope_device);
    } else {
        atomic_fetch_add_explicit(missed, s, memory_order_relaxed, memory_scope_device);
    }
}
