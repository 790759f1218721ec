// check: --arg table=8 --arg ready=1 --arg out=4:-1 --global 32 --local 8 -cl-std=CL3.0
// The first group publishes a table by a relaxed store: the acquire loads of other groups do not synchronise with it.
kernel void lookup(global int *table, global atomic_int *ready, global int *out)
{
    size_t group = get_group_id(0);
    if (get_local_id(0) != 0)
        return;
    if (group == 0) {
        for (int i = 0; i < 8; i++)
            table[i] = i * i; //~ race-groups
        atomic_store_explicit(ready, 1, memory_order_relaxed, memory_scope_device);
    } else if (atomic_load_explicit(ready, memory_order_acquire, memory_scope_device) == 1) {
        out[group] = table[group]; //~ race-groups
    }
}
