// The functions that Clang has for every target.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  uint u = 0x01020304u + (uint)zero;
  ulong w = 0x0102030405060708ul + (ulong)zero;
  // Bits.
  CHECK(__builtin_popcount(u) == 5 && __builtin_popcountl(w) == 13 && __builtin_popcountll(~w) == 51);
  CHECK(__builtin_clz(u) == 7 && __builtin_clzl(w) == 7 && __builtin_ctz(u) == 2 && __builtin_ctzll(w) == 3);
  CHECK(__builtin_bswap16(u) == 0x0403 && __builtin_bswap32(u) == 0x04030201u && __builtin_bswap64(w) == 0x0807060504030201ul);
  CHECK(__builtin_ffs(zero) == 0 && __builtin_ffs(zero + 8) == 4 && __builtin_ffsl((long)w << 32) == 36 && __builtin_ffs(INT_MIN + zero) == 32);
  CHECK(__builtin_parity(u) == 1 && __builtin_parityl(w) == 1 && __builtin_parityll(w ^ 1) == 0);
  CHECK(__builtin_rotateleft32(u, 8) == 0x02030401u && __builtin_rotateright32(u, 8) == 0x04010203u && __builtin_rotateright8(zero + 3, 1) == 129 && __builtin_rotateleft64(w, 8) == 0x0203040506070801ul);
  CHECK(__builtin_bitreverse32(1u + zero) == 0x80000000u && __builtin_bitreverse8(zero + 2) == 64);
  CHECK(__builtin_abs(zero - 5) == 5 && __builtin_labs((long)zero - 5) == 5);
  // Floating-point numbers.
  float f = 2.25f + zero, inf = __builtin_inff(), nan = __builtin_nanf("");
  CHECK(__builtin_isnan(nan) && !__builtin_isnan(f) && __builtin_isinf(inf) && __builtin_isfinite(f) && !__builtin_isfinite(nan) && __builtin_signbit(-f) && __builtin_signbitf(-0.0f));
  CHECK(__builtin_sqrtf(f) == 1.5f && __builtin_fabsf(-f) == f && __builtin_fmaf(f, 2.0f, 1.0f) == 5.5f && __builtin_floorf(f) == 2 && __builtin_fmaxf(f, 3) == 3 && __builtin_copysignf(f, -1) == -f && __builtin_ldexpf(f, 2) == 9 && __builtin_powf(f, 2) == 5.0625f);
  CHECK(__builtin_isgreater(inf, f) && __builtin_isunordered(nan, f) && __builtin_huge_valf() == inf);
#ifdef cl_khr_fp64
  CHECK(__builtin_sqrt(f) == 1.5 && __builtin_isinf(__builtin_inf()) && __builtin_isnan(__builtin_nan("1")) && __builtin_isnan((double)nan));
#endif
  // Types.
  CHECK(__builtin_astype(f, int) == as_int(f) && __builtin_astype((float2)(f), ulong) == as_ulong((float2)(f)) && all(__builtin_astype((float4)(f), int4) == as_int4((float4)(f))) && __builtin_astype((short)zero, ushort) == 0);
  CHECK(all(__builtin_astype((uchar4)(1, 2, 3, 4), uchar3) == (uchar3)(1, 2, 3)));
  int4 v = (int4)(1, -2, 3, 4) + zero, t = (int4)(5, 6, 7, 8) + zero;
  CHECK(all(__builtin_convertvector(v, float4) == (float4)(1, -2, 3, 4)) && all(__builtin_convertvector((float2)(f, -f), char2) == (char2)(2, -2)));
  CHECK(all(__builtin_shufflevector(v, t, 0, 4, 3, 7) == (int4)(1, 5, 4, 8)) && __builtin_shufflevector(v, t, 7, -1).x == 8 && all(__builtin_shufflevector(v.xyz, t.xyz, 5, 0, 2) == (int3)(7, 1, 3)));
  CHECK(all(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) == (int8)(v, v)) && all(__builtin_shufflevector(v, (int4)(3, 2, 5, zero)) == (int4)(4, 3, -2, 1)));
  CHECK(__builtin_types_compatible_p(typeof(v.x), int) && __builtin_choose_expr(sizeof(int) == 4, v.x, v) == 1 && !__builtin_constant_p(v.x));
  // Memory, of sizes that are known and not, in all address spaces.
  local int shared[4];
  int a[6] = {1, 2, 3, 4, 5, 6}, b[6];
  CHECK(__builtin_memset(b, 0x11, sizeof(b)) == b && b[5] == 0x11111111);
  __builtin_memcpy(b, a, sizeof(a));
  CHECK(b[0] == 1 && b[5] == 6);
  __builtin_memmove(b + 1, b, 20 + zero);
  CHECK(b[0] == 1 && b[1] == 1 && b[2] == 2 && b[5] == 5);
  __builtin_memmove(b, b + 1, 20);
  CHECK(b[0] == 1 && b[1] == 2 && b[4] == 5 && b[5] == 5);
  __builtin_memset(b, zero + 0x1ff, 5 + zero);
  CHECK(b[0] == -1 && b[1] == 255);
  __builtin_memcpy(b, a, zero + 3);
  CHECK(b[0] == (int)0xff000001 && b[1] == 255);
  if (get_local_id(0) == 0) __builtin_memcpy(shared, a, 16);
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(shared[3] == 4);
  // Hints.
  __builtin_assume(zero == 0);
  __builtin_prefetch(out);
  CHECK(__builtin_expect(zero + 7, 7) == 7 && __builtin_assume_aligned(out, 4) == out);
  if (zero) __builtin_unreachable();
  // Element by element, and all elements.
  CHECK(all(__builtin_elementwise_abs(v) == (int4)(1, 2, 3, 4)) && all(__builtin_elementwise_max(v, t - 4) == (int4)(1, 2, 3, 4)) && __builtin_elementwise_sqrt(f) == 1.5f && all(__builtin_elementwise_add_sat((uchar2)(250), (uchar2)(10)) == (uchar2)(255)));
  CHECK(__builtin_reduce_add(v) == 6 && __builtin_reduce_max(v) == 4 && __builtin_reduce_min(v) == -2 && __builtin_reduce_xor(t) == (5 ^ 6 ^ 7 ^ 8) && __builtin_reduce_mul((uchar2)(20 + zero)) == 144);
  __builtin_nontemporal_store(__builtin_nontemporal_load(a + 2) + zero, b);
  CHECK(b[0] == 3 && __builtin_LINE() == __LINE__);
  DONE;
}
