// What kernels enqueue, for crates/capi/tests/device_queue.rs: each kernel takes a queue and a buffer that begins as zeros.

typedef struct {
    int a;
    long b;
    char c[3];
} mixed;

void add(global int *p, int n) {
    atomic_add(p, n);
}

// Captured values of many types, ranges of one to three dimensions, local memory.
kernel void captures(queue_t q, global int *out) {
    int me = get_global_id(0);
    mixed m = {me, 3, {1, 2, 3}};
    float4 v = (float4)(me, 1, 2, 3);
    size_t sizes[3] = {4, 3, 2}, groups[3] = {2, 3, 1}, from[3] = {1, 2, 3}, flat[2] = {4, 3};
    int code = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(5), ^{
        add(out, m.a + m.b + m.c[2] + (int)v.x + (int)v.w);
        add(out + 1, get_global_id(0));
    });
    code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(3, 12, 4), ^{
        add(out + 2, get_global_id(0) * get_local_size(0));
    });
    code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_2D(flat), ^{
        add(out + 3, get_work_dim() * 100 + get_global_id(0) * get_global_id(1));
    });
    code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP, ndrange_3D(from, sizes, groups), ^{
        add(out + 4, get_global_id(0) + 10 * get_global_id(1) + 100 * get_global_id(2) + 1000 * get_local_id(1));
    });
    code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(8, 8), ^(local void *p, local void *r) {
        local int *own = (local int *)p;
        local char *other = (local char *)r;
        own[get_local_id(0)] = me;
        other[get_local_id(0)] = 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        add(out + 5, own[7 - get_local_id(0)] + other[get_local_id(0) ^ 1]);
    }, (uint)(8 * sizeof(int)), 8u);
    // No such range; no such queue.
    code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(8, 1 << 30), ^{ out[6] = 1; }) == 0;
    add(out + 7, code);
    out[8] = out[0];
}

// The kernel enqueues kernels that enqueue, and orders them by events.
kernel void events(queue_t q, global int *out) {
    clk_event_t start = create_user_event(), first, second, all;
    bool valid = is_valid_event(start);
    int code = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(4), 1, &start, &first, ^{
        add(out, 1);
        if (get_global_id(0) == 2)
            enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(3), ^{ add(out + 1, 5); });
    });
    code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &first, &second, ^{ out[2] = out[0] * 10; });
    clk_event_t both[2] = {first, second};
    code |= enqueue_marker(q, 2, both, &all);
    code |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), 1, &all, 0, ^{ out[3] = out[2] + 1; });
    capture_event_profiling_info(second, CLK_PROFILING_COMMAND_EXEC_TIME, (global void *)(out + 8));
    retain_event(all);
    release_event(all);
    release_event(all);
    release_event(first);
    release_event(second);
    set_user_event_status(start, CL_COMPLETE);
    release_event(start);
    out[4] = valid;
    out[5] = code;
}

// What is told of a block.
kernel void questions(queue_t q, global int *out) {
    void (^block)(void) = ^{ out[0] = 1; };
    out[1] = get_kernel_work_group_size(block);
    out[2] = get_kernel_preferred_work_group_size_multiple(block);
    out[3] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), block);
}

// A block takes its parent's images and samplers with it.
kernel void images(queue_t q, global int *out, read_only image2d_t image, sampler_t sampler, int n) {
    out[1] = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{
        out[0] = read_imagei(image, sampler, (int2)(1, 1)).x + n;
    });
}
