// check: --arg ready=1 --arg data=16:index --arg out=16 --global 16 --local 8 -cl-std=CL3.0 --time-limit 1
// All work-items wait for a flag that no work-item of the launch sets.
kernel void consume(global atomic_int *ready, global const int *data, global int *out)
{
    size_t g = get_global_id(0);
    while (atomic_load_explicit(ready, memory_order_acquire, memory_scope_device) == 0) { //~ endless
    }
    out[g] = data[g] + 1;
}
