// check: --arg in=4:1 --arg message=1 --arg ticket=1 --arg out=1 --global 4 --local 1 -cl-std=CL3.0
// The last group sees the value of a relaxed increment, which continues the release sequence of the first group's store.
kernel void relay(global const int *in, global int *message, global atomic_int *ticket, global int *out)
{
    size_t group = get_group_id(0);
    if (group == 0) {
        message[0] = in[0] * 42;
        atomic_store_explicit(ticket, 10, memory_order_release, memory_scope_device);
    } else if (group < 3) {
        atomic_fetch_add_explicit(ticket, 1, memory_order_relaxed, memory_scope_device);
    } else if (atomic_load_explicit(ticket, memory_order_acquire, memory_scope_device) == 12) {
        out[0] = message[0];
    }
}
