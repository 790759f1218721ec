// check: --arg in=32:index --arg lock=1 --arg total=1 --global 32 --local 8 -cl-std=CL3.0 --time-limit 1
// One work-item a group spins for the lock, and each owner gives it back.
kernel void sum(global const int *in, global atomic_int *lock, global int *total)
{
    int s = work_group_reduce_add(in[get_global_id(0)]);
    if (get_local_id(0) == 0) {
        while (atomic_exchange_explicit(lock, 1, memory_order_acquire, memory_scope_device) != 0) {
        }
        total[0] += s;
        atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);
    }
}
