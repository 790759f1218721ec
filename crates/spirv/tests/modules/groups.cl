// What work-items do together: atomics, barriers, local memory, functions of groups and sub-groups, printf.

global int counter = 5;
global int *global where = &counter;

kernel void exchange(global int *out, global const int *in, local int *shared)
{
    size_t i = get_global_id(0), l = get_local_id(0), n = get_local_size(0);
    local int own[64];
    own[l] = in[i];
    shared[l] = in[i] * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[16 * i] = own[n - 1 - l] + shared[(l + 1) % n];
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    event_t e = async_work_group_copy(shared, in + get_group_id(0) * n, n, 0);
    wait_group_events(1, &e);
    out[16 * i + 1] = shared[n - 1 - l];
    e = async_work_group_strided_copy(shared, in, n, 2, 0);
    wait_group_events(1, &e);
    out[16 * i + 2] = shared[l];
    out[16 * i + 3] = (int)(get_global_size(0) + get_num_groups(0) * 10 + get_work_dim() * 100 + get_global_offset(0));
    out[16 * i + 4] = (int)(get_global_linear_id() + get_local_linear_id() * 64 + get_enqueued_local_size(0) * 4096);
}

kernel void atomics(global int *out, global const int *in)
{
    size_t i = get_global_id(0), l = get_local_id(0);
    local int sum, low;
    local atomic_int order;
    if (l == 0) {
        sum = 0;
        low = 1 << 30;
        atomic_init(&order, 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&sum, in[i]);
    atomic_min(&low, in[i]);
    atomic_fetch_or_explicit(&order, 1 << l, memory_order_relaxed, memory_scope_work_group);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[16 * i] = sum;
    out[16 * i + 1] = low;
    out[16 * i + 2] = atomic_load(&order);
    volatile global int *o = out + 16 * i + 3;
    atomic_inc(o);
    atomic_sub(o, 4);
    out[16 * i + 4] = atomic_xchg(o, 17) + atomic_cmpxchg(o, 17, in[i]) + atomic_max(o, 3);
    volatile global atomic_uint *u = (volatile global atomic_uint *)(out + 16 * i + 5);
    uint expected = 0;
    atomic_store(u, 9u);
    out[16 * i + 6] = atomic_compare_exchange_strong(u, &expected, 4u) + expected * 2;
    out[16 * i + 7] = atomic_fetch_max_explicit(u, 77u, memory_order_acq_rel, memory_scope_device);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_all_svm_devices);
    out[16 * i + 8] = *where;
}

kernel void collective(global int *out, global const int *in)
{
    size_t i = get_global_id(0), l = get_local_id(0);
    int x = in[i] & 255;
    global int *o = out + 16 * i;
    o[0] = work_group_reduce_add(x) + work_group_scan_inclusive_max(x);
    o[1] = work_group_scan_exclusive_add(x) + work_group_broadcast(x, 3);
    o[2] = work_group_all(x >= 0) + 2 * work_group_any(x == 7);
    o[3] = as_int(work_group_reduce_min((float)x));
    o[4] = sub_group_reduce_add(x) + sub_group_scan_inclusive_min(x) + sub_group_scan_exclusive_max(x);
    o[5] = sub_group_broadcast(x, 1) + sub_group_all(x > 0) + sub_group_any(x == 3);
    o[6] = get_sub_group_size() + get_max_sub_group_size() * 3 + get_num_sub_groups() * 5;
    o[7] = get_sub_group_id() * 100 + get_sub_group_local_id();
}

static int of_any(int *p)
{
    return *p + (to_local(p) ? 1000 : to_global(p) ? 2000 : 3000);
}

kernel void pointers(global int *out, global const int *in)
{
    size_t i = get_global_id(0);
    local int shared[64];
    int own = 5;
    shared[get_local_id(0)] = in[i];
    out[16 * i] = in[i] * 2;
    int *p = &out[16 * i];
    if (in[i] & 1)
        p = &shared[get_local_id(0)];
    else if (in[i] & 2)
        p = &own;
    out[16 * i + 1] = of_any(p);
}

kernel void prints(int n, float x)
{
    printf("n = %d, %5.2f%% %s %v4d %c\n", n, x, "text", (int4)(n, 2, 3, 4), 'y');
}
