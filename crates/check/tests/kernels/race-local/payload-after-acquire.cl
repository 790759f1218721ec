// check: --arg in=4:index --arg out=32 --global 32 --local 8 -cl-std=CL3.0
// No barrier between the payload and its readers: they read it only if the acquire load sees the release store.
kernel void broadcast(global const int *in, global int *out)
{
    local atomic_int ready;
    local int payload;
    if (get_local_id(0) == 0)
        atomic_init(&ready, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        payload = in[get_group_id(0)] * 3;
        atomic_store_explicit(&ready, 1, memory_order_release, memory_scope_work_group);
    }
    int seen = atomic_load_explicit(&ready, memory_order_acquire, memory_scope_work_group);
    out[get_global_id(0)] = seen == 1 ? payload : -1;
}
