// check: --arg out=4 --global 16 --local 4 -cl-std=CL3.0
// The initialisation of an atomic variable is not atomic, and no barrier orders it before the additions.
kernel void count(global int *out) {
    local atomic_int n;
    if (get_local_id(0) == 0)
        atomic_init(&n, 0); //~ race-local
    atomic_fetch_add_explicit(&n, 1, memory_order_relaxed, memory_scope_work_group); //~ race-local
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = atomic_load_explicit(&n, memory_order_relaxed, memory_scope_work_group);
}
