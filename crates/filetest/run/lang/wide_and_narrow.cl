// double, half in memory, 64-bit integers, chars: storage and arithmetic.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

constant double thirds[2] = {1.0 / 3, 2.0 / 3};
kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  double d = 1.0 + zero; float f = 1.0f + zero;
  CHECK(d / 3 != f / 3 && (float)(d / 3) == f / 3 && thirds[zero + 1] == 2 * thirds[zero] && d / 3 == thirds[0]);
  CHECK(sizeof(d) == 8 && sizeof(d + f) == 8 && sizeof(f * 2) == 4 && sizeof(f * 2.0) == 8 && 0.1f + zero != 0.1 && (0.1f == (float)0.1));
  CHECK(DBL_MAX > FLT_MAX && DBL_EPSILON == 0x1p-52 && d + DBL_EPSILON > d && d + DBL_EPSILON / 2 == d && DBL_MIN == 0x1p-1022);
  double4 v = (double4)(1, 2, 3, 4) * d; CHECK(v.w == 4 && dot(v, v) == 30 && all(convert_float4(v) == (float4)(1, 2, 3, 4)));
  CHECK(sqrt(d + 1) * sqrt(d + 1) - 2 < 1e-15 && fma(d, 1e16, 1.0) == 1e16 + 1 * zero && floor(-d / 2) == -1 && fmod(7.5 * d, 2) == 1.5);
  CHECK(as_ulong(-d) == 0xbff0000000000000ul && as_double(0x4000000000000000ul) == 2 && signbit(-0.0 * d) && !isnan(d) && isinf(d / zero));
  long l = (long)1e18 + zero; ulong ul = 1ul << (63 + zero);
  CHECK(l * 9 == 9000000000000000000l && l / 1000 == 1000000000000000l && l % 1000000007 == 49 && ul / 3 == 3074457345618258602ul && ul % 3 == 2);
  CHECK((double)l == 1e18 && (float)ul == 0x1p63f && (long)-1.5e18 == -1500000000000000000l && (ulong)1.8e19 == 18000000000000000000ul);
  CHECK(mul_hi(l, l) == 54210108624275221l && mul_hi(ul, ul) == ul >> 1 && clz(l) == 4 && popcount(ul) == 1 && rotate(ul, 1ul) == 1);
  CHECK((l << 4) >> 4 != l && (ul >> 63) == 1 && -1l >> 63 == -1 && (int)(l & 0xffffffff) == (int)0xa7640000u && abs_diff(-l, l) == 2000000000000000000ul);
  ushort room[20]; half *store = (half *)room;
  vstore_half(1.5f + zero, 0, store); vstore_half(-0.333251953125f, 1, store); vstore_half(70000.0f + zero, 2, store);
  CHECK(vload_half(0, store) == 1.5f && vload_half(1, store) == -0.333251953125f && isinf(vload_half(2, store)));
  vstore_half_rtz(1.0f + 0x1.8p-11f, 3, store); vstore_half_rtp(1.0f + 0x1p-12f, 4, store); vstore_half_rte(1.0f + 0x1p-11f, 5, store);
  CHECK(vload_half(3, store) == 1.0f && vload_half(4, store) == 1.0f + 0x1p-10f && vload_half(5, store) == 1.0f);
  vstore_half4((float4)(1, 2, 3, 65504), 2, store); CHECK(all(vload_half4(2, store) == (float4)(1, 2, 3, 65504)) && vload_half(9, store) == 2);
  vstorea_half3((float3)(5, 6, 7), 1, store + 8); CHECK(vload_half(14, store) == 7 && all(vloada_half3(1, store + 8) == (float3)(5, 6, 7)));
  vstore_half(0.1 + zero, 19, store); CHECK(as_uint(vload_half(19, store)) == 0x3dccc000u || vload_half(19, store) == 0.0999755859375f);
  vstore_half(0x1p-24f, 0, store); CHECK(vload_half(0, store) == 0x1p-24f); vstore_half(0x1p-26f, 0, store); CHECK(vload_half(0, store) == 0);
  CHECK(sizeof(half) == 2 && *(ushort *)&store[2] != 0);
  char c = -128; CHECK(-c == 128 && (char)-c == -128 && abs(c) == 128 && (uchar)c == 128 && c / -1 == 128 && c - 1 == -129);
  char16 cs = (char16)(zero + 127); cs += (char)1; CHECK(cs.sf == -128 && all(cs == (char16)(-128)) && add_sat(c, (char)-1) == -128);
  ushort2 us = (ushort2)(65535, 1) + (ushort)zero; us += (ushort)1; CHECK(us.x == 0 && us.y == 2 && hadd(us, us).y == 2);
  bool b = zero + 2; CHECK(b == 1 && b + 1 == 2); b = 0.25f; CHECK(b); b = zero; CHECK(!b);
  DONE;
}
