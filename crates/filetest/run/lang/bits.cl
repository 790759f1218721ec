// Bit operations on all widths, shifts at the edges, built-in bit functions.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

#define ALL(T, U, BITS) { T x = (T)(0x5a + zero), y = (T)0x33; U u = (U)~(U)0; \
  CHECK((T)(x & y) == (T)0x12 && (T)(x | y) == (T)0x7b && (T)(x ^ y) == (T)0x69 && (T)~x == (T)-0x5b); \
  CHECK((U)(u << 1) == (U)(u - 1) && (U)(u >> 1) == (U)(u / 2) && (U)(u >> (BITS - 1)) == 1 && (U)(u ^ u) == 0); \
  CHECK((T)((T)-1 >> 1) == (T)-1 && clz(x) == BITS - 7 && clz((T)zero) == BITS && popcount(x) == 4 && popcount(u) == BITS); \
  CHECK(rotate(x, (T)(BITS - 1)) == (T)0x2d && rotate(u, (U)3) == u && rotate((U)1, (U)(BITS - 1)) == (U)((U)1 << (BITS - 1))); \
  CHECK(mul_hi(u, u) == (U)(u - 1) && add_sat(u, (U)1) == u && sub_sat((U)0, u) == 0 && hadd(u, (U)(u - 1)) == (U)(u - 1) && rhadd(u, (U)(u - 1)) == u); \
  T big = (T)(u >> 1); CHECK(add_sat(big, (T)1) == big && sub_sat((T)(-big - 1), (T)1) == (T)(-big - 1) && abs((T)-x) == (U)0x5a && abs_diff(big, (T)(-big - 1)) == u); \
  CHECK(max(x, y) == x && min(x, y) == y && clamp((T)1, y, x) == y && mad_sat(big, (T)2, (T)0) == big); }

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  ALL(char, uchar, 8)
  ALL(short, ushort, 16)
  ALL(int, uint, 32)
  ALL(long, ulong, 64)
  CHECK((1 << 31 + zero) == INT_MIN && 1u << 31 >> 31 == 1 && -1 >> 31 == -1 && 1l << 62 == 4611686018427387904l);
  CHECK((6 & 3) == 2 && (6 & 3 == 3) == 0 && (1 | 2 ^ 3 & 1) == 3 && ~5 + 1 == -5 && (~0u >> 4 << 4) == 0xfffffff0u);
  CHECK(mad24(zero + 1000, 2000, 5) == 2000005 && mul24(-5, zero + 7) == -35 && mul24(0xffffffu, 0xffu) == 0xfeffff01u && upsample((uchar)0x12, (uchar)0x34) == 0x1234);
  CHECK(upsample((short)-1, (ushort)2) == -65534 && upsample(1u, 2u) == 0x100000002ul);
  uint4 v = (uint4)(1, 2, 0x80000000, 0xffffffff) + (uint)zero;
  CHECK(all((v >> 1) == (uint4)(0, 1, 0x40000000, 0x7fffffff)) && all(popcount(v) == (uint4)(1, 1, 1, 32)) && all(clz(v) == (uint4)(31, 30, 0, 0)));
  CHECK(all((v << (uint4)(4, 3, 2, 1)) == (uint4)(16, 16, 0, 0xfffffffe)) && all(rotate(v, (uint4)(1)) == (uint4)(2, 4, 1, 0xffffffff)) && all(~v == (uint4)(0xfffffffe, 0xfffffffd, 0x7fffffff, 0)));
  DONE;
}
