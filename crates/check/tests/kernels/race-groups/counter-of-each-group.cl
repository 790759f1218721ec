// check: --arg in=64:index --arg count=4 --global 64 --local 16 -cl-std=CL3.0
// The scope of one group suffices: the counter belongs to the group.
kernel void count_odd(global const int *in, global atomic_uint *count)
{
    if (in[get_global_id(0)] & 1)
        atomic_fetch_add_explicit(&count[get_group_id(0)], 1u, memory_order_relaxed, memory_scope_work_group);
}
