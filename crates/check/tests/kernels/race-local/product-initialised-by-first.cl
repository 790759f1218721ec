// check: --arg out=4 --global 16 --local 4 -cl-std=CL3.0
// The barrier does not order local memory. That the first work-item releases the variable after its initialisation
// helps those that run later only.
kernel void product(global uint *out) {
    local atomic_uint p;
    if (get_local_id(0) == 0)
        atomic_init(&p, 3); //~ race-local
    barrier(CLK_GLOBAL_MEM_FENCE);
    uint old = atomic_load_explicit(&p, memory_order_acquire, memory_scope_work_group); //~ race-local
    while (!atomic_compare_exchange_strong_explicit(&p, &old, old * 5, memory_order_acq_rel, memory_order_acquire, memory_scope_work_group)) {}
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = atomic_load_explicit(&p, memory_order_relaxed, memory_scope_work_group);
}
