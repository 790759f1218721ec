// check: --arg sum=1:2147483000 --arg in=64:100 --global 64 --local 16 -cl-std=CL3.0 --enable signed-overflow
// Atomic additions of signed integers wrap by definition.
kernel void add_all(volatile global atomic_int *sum, global const int *in) {
    atomic_fetch_add_explicit(sum, in[get_global_id(0)], memory_order_relaxed, memory_scope_device);
}
