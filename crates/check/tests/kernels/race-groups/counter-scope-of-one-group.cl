// check: --arg in=64:index --arg count=1 --global 64 --local 16 -cl-std=CL3.0
// All groups increment one counter by atomics whose scope is a single group.
kernel void count_odd(global const int *in, global atomic_uint *count)
{
    if (in[get_global_id(0)] & 1)
        atomic_fetch_add_explicit(count, 1u, memory_order_relaxed, memory_scope_work_group); //~ race-groups
}
