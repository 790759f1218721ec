// Reductions and scans of whole work-groups by products, bits and truth, against a loop over the values of all.
// (Others want -cl-std=CL3.0 and cl_khr_work_group_uniform_arithmetic.)

// The results are kept: all work-items call the functions, whatever they find.
#define TEST(T, name, identity, value, combine)                                                  \
  {                                                                                              \
    local T all[128];                                                                            \
    T x = value;                                                                                 \
    all[id] = x;                                                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                \
    T before = identity, total = identity;                                                       \
    for (int k = 0; k < n; k++) {                                                                \
      T a = total, b = all[k];                                                                   \
      total = combine;                                                                           \
      before = k == id - 1 ? total : before;                                                     \
    }                                                                                            \
    T a = before, b = x;                                                                         \
    T own = combine;                                                                             \
    T reduced = work_group_reduce_##name(x);                                                     \
    T exclusive = work_group_scan_exclusive_##name(x);                                           \
    T inclusive = work_group_scan_inclusive_##name(x);                                           \
    bad = bad ? bad : reduced != total ? __LINE__ : exclusive != before ? 1000 + __LINE__ : 0;   \
    bad = bad ? bad : inclusive != own ? 2000 + __LINE__ : 0;                                    \
  }

#define BITS(T, x)                                                                               \
  TEST(T, and, ~(T)0, x | 1 << (id & 7), a & b)                                                  \
  TEST(T, or, 0, x & (T)0x10101 << (id & 7), a | b)                                              \
  TEST(T, xor, 0, x, a ^ b)

kernel void test(global int *out) {
  int id = get_local_linear_id(), bad = 0;
  int n = get_local_size(0) * get_local_size(1) * get_local_size(2);
  int small = 3 - 2 * (id % 3);
  TEST(int, mul, 1, small * 7, a * b)
  TEST(uint, mul, 1, 0x9e3779b9u * (id + 1), a * b)
  TEST(long, mul, 1, (long)(id * 2 + 1) << 1, a * b)
  TEST(ulong, mul, 1, 0x9e3779b97f4a7c15ul * (id + 1), a * b)
  // Powers of two: exact in any order.
  TEST(float, mul, 1, id % 3 ? 0.5f : -4.0f, a * b)
  TEST(double, mul, 1, id % 3 ? -0.25 : 16.0, a * b)
  BITS(int, 0x5a5a1234 * (id + 3))
  BITS(uint, 0x9e3779b9u * (id + 1))
  BITS(long, (long)(0x9e3779b97f4a7c15ul * (id + 1)))
  BITS(ulong, 0x9e3779b97f4a7c15ul * (id + 5))
  // Any number but 0 is true.
  TEST(int, logical_and, 1, (id + 1) % 6 * 256, a && b)
  TEST(int, logical_and, 1, id - 100, a && b)
  TEST(int, logical_or, 0, id == 3 ? -256 : 0, a || b)
  TEST(int, logical_xor, 0, id & 1 ? 256 : id % 3, !a != !b)
  out[get_global_linear_id()] = bad;
}
