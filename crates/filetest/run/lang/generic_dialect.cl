// What compilers on Clang take in OpenCL C 3.0: checked arithmetic, bits of pointers, their spelling of the atomics.

#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)

const global int bound = 3;

// Whether `f` says of each pair what the exact results in `wide` say.
#define CHECK_PAIRS(type, wide, f, op)                                                                \
    for (int i = 0; i < 8; i++)                                                                       \
        for (int k = 0; k < 8; k++) {                                                                 \
            type a = (type)values[i] + one - 1, b = (type)values[k], r = 77;                          \
            wide exact = (wide)a op (wide)b;                                                          \
            CHECK(f(a, b, &r) == (exact != (wide)(type)exact));                                       \
            CHECK(r == (type)exact);                                                                  \
        }

kernel void test(global int *out) {
    int id = get_global_id(0), one = min(id, 0) + 1;
    out[id] = -2;
    const long values[8] = {0, 1, -1, 2, 0x7fffffff, -0x80000000L, 0x10001, 0x8000};
    CHECK_PAIRS(int, long, __builtin_sadd_overflow, +)
    CHECK_PAIRS(int, long, __builtin_ssub_overflow, -)
    CHECK_PAIRS(int, long, __builtin_smul_overflow, *)
    CHECK_PAIRS(uint, ulong, __builtin_uadd_overflow, +)
    CHECK_PAIRS(uint, ulong, __builtin_usub_overflow, -)
    CHECK_PAIRS(uint, ulong, __builtin_umul_overflow, *)
    CHECK_PAIRS(short, int, __builtin_add_overflow, +)
    CHECK_PAIRS(uchar, int, __builtin_sub_overflow, -)
    CHECK_PAIRS(char, int, __builtin_mul_overflow, *)

    long l = 5;
    CHECK(__builtin_saddl_overflow(LONG_MAX, (long)one, &l) && l == LONG_MIN);
    CHECK(!__builtin_ssubl_overflow(LONG_MIN, -(long)one, &l) && l == LONG_MIN + 1);
    CHECK(__builtin_smull_overflow(LONG_MIN, -(long)one, &l) && l == LONG_MIN);
    CHECK(!__builtin_mul_overflow(-3L, (long)one << 40, &l) && l == -(3L << 40));
    ulong u = 5;
    CHECK(__builtin_usubll_overflow((ulong)0, (ulong)one, &u) && u == ULONG_MAX);
    CHECK(!__builtin_umull_overflow((ulong)one << 31, 1UL << 32, &u) && u == 1UL << 63);
    CHECK(__builtin_umull_overflow((ulong)one << 32, 1UL << 32, &u) && u == 0);
    // Of different types: the exact result, in the type of the last argument.
    short s = 3;
    CHECK(!__builtin_add_overflow(70000 * one, -60000, &s) && s == 10000);
    CHECK(__builtin_add_overflow(70000 * one, 0u, &s) && s == 70000 - 65536);
    uint w = 1;
    CHECK(!__builtin_mul_overflow((short)(-5 * one), -4, &w) && w == 20);
    CHECK(__builtin_sub_overflow(3u, 4 * one, &w) && w == UINT_MAX);
    CHECK(!__builtin_sub_overflow(3000000000u, one, &w) && w == 2999999999u);
    int narrow = 1;
    CHECK(__builtin_mul_overflow(4294967295u, 4294967295u * (uint)one, &narrow) && narrow == 1);

    int array[bound] = {1, 2, 3};
    CHECK(sizeof(array) == 12 && array[one + 1] == 3 && vec_step(void) == 1);

    private int x = 41, *p = &x;
    ulong address = __builtin_astype(p, ulong);
    uint2 halves = __builtin_astype(p, uint2);
    CHECK(*__builtin_astype(halves, private int *) == 41 && as_size_t(p) == address);
    CHECK((address >> 32) == halves.y && (uint)address == halves.x);

    ushort bits[2] = {0x4200, 0};
    half *h = (half *)bits;
    CHECK(__builtin_load_halff(h) == 3.0f && __builtin_load_half(h) == 3.0);
    __builtin_store_halff(1.0f + 0x1p-11f * one, h + 1);
    CHECK(bits[1] == 0x3c00);
    __builtin_store_half(1.0 + 0x1.1p-11 * one, h + 1);
    CHECK(bits[1] == 0x3c01 && __builtin_canonicalizef(2.5f * one) == 2.5f);

    local atomic_int shared;
    if (get_local_id(0) == 0) __opencl_atomic_init(&shared, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    __opencl_atomic_fetch_add(&shared, 2, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
    barrier(CLK_LOCAL_MEM_FENCE);
    int expected = 2 * (int)get_local_size(0);
    CHECK(__opencl_atomic_load(&shared, __ATOMIC_ACQUIRE, memory_scope_work_group) == expected);
    CHECK(atomic_load_explicit(&shared, memory_order_acquire, memory_scope_work_group) == expected);
    out[id] = 0;
}
