// check: --arg in=8:index --arg lock=1 --arg total=1 --global 8 --local 8 -cl-std=CL3.0 --time-limit 1
// The first owner of the lock does not give it back, and the other work-items of the group spin.
kernel void sum(global const int *in, global atomic_int *lock, global int *total)
{
    int v = in[get_global_id(0)];
    while (atomic_exchange_explicit(lock, 1, memory_order_acq_rel, memory_scope_device) != 0) { //~ endless
    }
    total[0] += v;
}
