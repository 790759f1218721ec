// check: --arg in=64:index --arg length=1 --arg list=64 --global 64 --local 16 -cl-std=CL3.0
// Each element of the list is written once, at an index that an atomic has reserved.
kernel void select(global const int *in, global atomic_int *length, global int *list)
{
    int v = in[get_global_id(0)];
    if (v % 3 != 0) {
        int slot = atomic_fetch_add_explicit(length, 1, memory_order_relaxed, memory_scope_device);
        list[slot] = v;
    }
}
