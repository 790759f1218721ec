// What Clang takes beyond the specification, in OpenCL C 3.0.
const global int bound = 16;
const int plain = 4;
global int changing = 3;
kernel void sizes(global int *a) {
    int one[bound], two[plain], three[changing];
    a[0] = sizeof(one) + sizeof(two) + vec_step(void);
}
kernel void spaces(global int *a) {
    global int *p = (__attribute__((opencl_global)) int *)a;
    __attribute__((opencl_global_device)) int *d = a;
    __attribute__((opencl_global_host)) int *h = d;
    p[0] = *(__attribute__((opencl_global)) int *)h + sizeof(__attribute__((opencl_global)) int *);
    a[1] = *(__attribute__((opencl_local)) int *)a;
}
kernel void bits(global int *a, double x) {
    a[0] = *__builtin_astype(a, global int *);
    ulong n = __builtin_astype(a, ulong);
    int2 both = __builtin_astype(a, int2);
    global int *back = __builtin_astype(both, global int *);
    a[1] = back[0] + (int)n + (as_size_t(a) == as_uintptr_t(a)) + as_intptr_t(1L) + as_ptrdiff_t(x);
    int narrow = __builtin_astype(a, int);
    global int *from_int = __builtin_astype(3, global int *);
}
kernel void builtins(global int *a, global uint *u, global long *l, global half *h, global short *s) {
    bool b = __builtin_sadd_overflow(a[0], a[1], a) || __builtin_umul_overflow(u[0], u[1], u);
    b |= __builtin_add_overflow(a[0], u[1], s) || __builtin_mul_overflow(l[0], l[1], l);
    b |= __builtin_sub_overflow(s[0], s[1], s);
    b |= __builtin_uadd_overflow(u[0], 1, a);
    b |= __builtin_add_overflow(l[0], a[0], l);
    b |= __builtin_add_overflow(1.0f, a[0], a);
    b |= __builtin_add_overflow(1, 2);
    a[2] = b;
    __builtin_store_halff(__builtin_load_halff(h) + 1, h + 1);
    __builtin_store_half(__builtin_load_half(h), h + 1);
    __builtin_store_half(1.0, a);
    __builtin_printf("%d\n", a[0]);
    __builtin_printf("%d\n", 1.0f);
    a[3] = __builtin_canonicalizef(2.0f) + __builtin_canonicalize(2.0);
}
kernel void atomics(global atomic_int *a, global int *out) {
    out[0] = __opencl_atomic_load(a, __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_DEVICE);
    __opencl_atomic_store(a, 3, memory_order_release, memory_scope_work_group);
    out[1] = __opencl_atomic_fetch_add(a, 1, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_SUB_GROUP);
    __opencl_atomic_init(a, 4);
    int expected = 4;
    out[2] = __opencl_atomic_compare_exchange_strong(a, &expected, 5, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
    __opencl_atomic_load(a);
    __opencl_atomic_fetch_sub_explicit(a, 1, memory_order_relaxed);
    _Static_assert(memory_order_seq_cst == __ATOMIC_SEQ_CST && memory_scope_sub_group == __OPENCL_MEMORY_SCOPE_SUB_GROUP, "");
}
void takes(queue_t q);
kernel void handles(queue_t q, global int *a) {
    clk_event_t e = create_user_event();
    clk_event_t f = CLK_NULL_EVENT;
    queue_t none = 0;
    a[0] = q == 0 || 0 == q || q != none || e == CLK_NULL_EVENT || e != f;
    takes(0);
    takes(1);
    a[1] = q == 1;
    a[2] = q < none;
    a[3] = q == e;
}
