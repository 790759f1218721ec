// check: --arg owner=1:0 --arg out=1 --global 4 --local 4 -cl-std=CL3.0
// One exchange succeeds; those that fail only load, and so may the winner, plainly.
kernel void claim(volatile global atomic_int *owner, global int *out) {
    int expected = 0;
    if (atomic_compare_exchange_strong_explicit(owner, &expected, 1 + (int)get_global_id(0), memory_order_relaxed,
                                                memory_order_relaxed, memory_scope_device))
        out[0] = 1 + get_global_id(0);
}
