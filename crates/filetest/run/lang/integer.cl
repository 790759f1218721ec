// Integer built-ins.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  CHECK(abs(-5) == 5u && abs((char)-128) == 128 && abs_diff(-2147483647, 2147483647) == 4294967294u && abs_diff(3u, 5u) == 2);
  CHECK(add_sat((uchar)200, (uchar)100) == 255 && add_sat(INT_MAX, 1) == INT_MAX && add_sat(INT_MIN, -1) == INT_MIN);
  CHECK(add_sat((long)LONG_MAX, 5l) == LONG_MAX && add_sat((short)-30000, (short)-30000) == -32768);
  CHECK(sub_sat(3u, 5u) == 0 && sub_sat((char)-100, (char)100) == -128);
  CHECK(hadd(INT_MAX, INT_MAX) == INT_MAX && hadd(-3, 0) == -2 && rhadd(-3, 0) == -1 && hadd(7u, 8u) == 7 && rhadd(7u, 8u) == 8);
  CHECK(clamp(5, 1, 3) == 3 && clamp((uchar)0, (uchar)1, (uchar)3) == 1 && all(clamp((int2)(0, 9), 1, 3) == (int2)(1, 3)));
  CHECK(clz(1) == 31 && clz((uchar)1) == 7 && clz(0) == 32 && clz(1ul) == 63 && all(clz((short2)(0, -1)) == (short2)(16, 0)));
  CHECK(popcount(0xff00ff00u) == 16 && popcount((char)-1) == 8 && popcount(ULONG_MAX) == 64);
  CHECK(mad24(3, 4, 5) == 17 && mul24(-3, 4) == -12 && mul24(0x00ffffffu, 2u) == 0x01fffffeu);
  CHECK(mad_hi(0x40000000, 8, 1) == 3 && mul_hi(-1, 1) == -1 && mul_hi(0xffffffffu, 0xffffffffu) == 0xfffffffeu);
  CHECK(mul_hi(ULONG_MAX, ULONG_MAX) == ULONG_MAX - 1 && mul_hi(LONG_MIN, 2l) == -1 && mul_hi((uchar)255, (uchar)255) == 254);
  CHECK(mad_sat(INT_MAX, 2, 1) == INT_MAX && mad_sat((char)-100, (char)100, (char)0) == -128 && mad_sat(3u, 4u, 5u) == 17);
  CHECK(mad_sat(LONG_MAX, 2l, -5l) == LONG_MAX && mad_sat(ULONG_MAX, 1ul, 1ul) == ULONG_MAX);
  CHECK(max(-1, 2) == 2 && max(-1u, 2u) == 0xffffffffu && min((uchar)200, (uchar)100) == 100);
  CHECK(all(max((int4)(1, 5, 1, 5), 3) == (int4)(3, 5, 3, 5)));
  CHECK(rotate(0x80000001u, 1u) == 3 && rotate((uchar)0x81, (uchar)4) == 0x18 && rotate(1, -1) == INT_MIN && rotate(1ul, 63ul) == 1ul << 63);
  CHECK(upsample((uchar)0x12, (uchar)0x34) == 0x1234 && upsample(-1, 5u) == (long)0xffffffff00000005ul && upsample((short)1, (ushort)2) == 65538);
  CHECK(all(upsample((uchar2)(1, 2), (uchar2)(3, 4)) == (ushort2)(0x103, 0x204)));
  CHECK(all(popcount((uint3)(1, 3, 7)) == (uint3)(1, 2, 3)));
  CHECK(INT_MIN / -1 == INT_MIN || true);
  volatile int zero = 0;
  int unspecified = 5 / zero + 5 % zero;
  CHECK(unspecified == unspecified);
  DONE;
}
