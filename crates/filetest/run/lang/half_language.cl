// `half` as a type to compute with (cl_khr_fp16): types, literals, conversions, constants, memory, calls. Values pass
// through `zero`, so that both constants and code are checked.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

int __attribute__((overloadable)) kind(int x) { return 1; }
int __attribute__((overloadable)) kind(half x) { return 2; }
int __attribute__((overloadable)) kind(float x) { return 3; }
int __attribute__((overloadable)) kind(double x) { return 4; }
int __attribute__((overloadable)) kind(half2 x) { return 5; }
int __attribute__((overloadable)) kind(half4 x) { return 6; }
int __attribute__((overloadable)) kind(short4 x) { return 7; }

struct pair {
  char c;
  half h;
  half3 v;
};

constant half table[4] = {1, 0x1p-24h, HALF_MAX, 0x1.8p0h + 0x1p-11h};
constant half4 vector = (half4)(1, 2, 3, 4) * 0.1h;

half scaled(half x, half by) { return x * by; }
half sum(const half *p, int n) {
  half s = 0;
  for (int i = 0; i < n; i++)
    s += p[i];
  return s;
}

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  half one = (half)(zero + 1), three = one + one + one;

  // Types and sizes.
  CHECK(sizeof(half) == 2 && sizeof(half2) == 4 && sizeof(half3) == 8 && sizeof(half16) == 32);
  CHECK(vec_step(half) == 1 && vec_step(half3) == 4 && vec_step(half8) == 8 && sizeof(struct pair) == 16);
  CHECK(kind(one) == 2 && kind(one + three) == 2 && kind(-one) == 2 && kind(one + 1) == 2 && kind(1L * one) == 2);
  CHECK(kind(one + 1.0f) == 3 && kind(one * 1.0) == 4 && kind(1.0h) == 2 && kind(2.5H) == 2 && kind(one < three) == 1);
  CHECK(kind(one ? one : 1) == 2 && kind(zero ? one : 1.0f) == 3 && kind((one, three)) == 2);
  half4 v = (half4)(one, three, -one, 0.5h);
  CHECK(kind(v) == 6 && kind(v.xy) == 5 && kind(v + one) == 6 && kind(v < 1) == 7 && kind(!v) == 7 && kind(v == v) == 7);

  // Every operation is rounded, to the nearest, ties to even.
  half third = one / three;
  CHECK(as_short(third) == 0x3555 && as_ushort(1.0h / 3.0h) == 0x3555);
  half big = 2048 * one;
  CHECK(big + one == big && big + three == 2052 && 2048.0h + 1.0h == 2048.0h && 2048.0h + 3.0h == 2052.0h);
  CHECK((big + one) + one == 2048 && big + (one + one) == 2050);
  half x = 0x1.004p0h * one;
  CHECK(x * x == 0x1.008p0h && (x * x - 1.0h) == 0x1p-9h && x * x - 0x1.008p0h == 0);
  CHECK(as_ushort((half)65504 * one + 15.0h) == 0x7bff && as_ushort((half)65504 * one + 16.0h) == 0x7c00);
  CHECK(65504.0h + 16.0h == INFINITY && isinf(65504.0h * 2.0h) && isnan(0.0h / 0.0h));
  // Denormals.
  half tiny = 0x1p-24h * one;
  CHECK(as_short(tiny) == 1 && as_short(tiny + tiny) == 2 && tiny * 0.5h == 0 && tiny * 0.75h == tiny);
  CHECK(as_ushort(-tiny / 4) == 0x8000 && HALF_MIN / 2 == 0x200 * tiny && 3 * tiny / 2 == 2 * tiny);

  // Operators.
  half h = three;
  h += 1;
  h *= 0.5h;
  CHECK(h == 2);
  h -= 0.25f;
  h /= 2;
  CHECK(h == 0.875h && h++ == 0.875h && h == 1.875h && --h == 0.875h);
  CHECK(h && !(h - h) && (h || zero) && h > 0.5h && h >= 0.875h && h < 1 && h <= 0.875f && h != 0.875000001);
  CHECK((h > 1 ? 1.0h : 2.0h) == 2.0h && -h == -0.875h && +h == 0.875h);
  h = NAN;
  CHECK(h != h && !(h == h) && !(h < h) && !(h >= 1) && (bool)h && isnan(h));

  // Conversions.
  CHECK((int)(three / 2) == 1 && (int)(-three / 2) == -1 && (uchar)(half)255 == 255 && (long)(half)-65504 == -65504);
  CHECK((half)2049 == 2048 && (half)2051 == 2052 && (half)(zero + 65519) == 65504 && isinf((half)(zero + 65520)));
  CHECK((half)(ulong)(zero - 1) == INFINITY && (half)(short)(zero - 32767) == -32768.0h && (half)(bool)one == 1);
  CHECK((half)0x1.002p0f == 1.0h && (half)0x1.002000001p0 == 0x1.004p0h && (half)(0x1.002001p0 * (1 + zero)) == 0x1.004p0h);
  CHECK((float)third == 0x1.554p-2f && (double)third == 0x1.554p-2 && (float)tiny == 0x1p-24f);
  CHECK(convert_half_rtz(0.1f) == 0x1.998p-4h && convert_half_rtp(0.1f) == 0x1.99cp-4h);
  CHECK(convert_half_rtn(-0.1) == -0x1.99cp-4h && convert_half_rte(-0.1) == -0x1.998p-4h);
  CHECK(convert_half_rtp(zero + 2049) == 2050 && convert_half_rtz(zero + 70000) == 65504 && isinf(convert_half_rtp(70000)));
  CHECK(convert_half_rtn(zero - 70000) == -INFINITY && convert_half_rtz(zero - 2051L) == -2050);
  CHECK(convert_char_sat(300 * one) == 127 && convert_uchar_sat(-one) == 0 && convert_int_rte(2.5h * one) == 2);
  CHECK(convert_int_rtp(0.001h * one) == 1 && convert_long_rtn(-0.001h * one) == -1 && convert_ushort_sat(INFINITY * one) == 65535);
  CHECK(all(convert_half4((int4)(1, 2, 3, zero + 4)) == (half4)(1, 2, 3, 4)));
  CHECK(all(convert_float4(v) == (float4)(1, 3, -1, 0.5f)) && all(convert_int4_rte(v) == (int4)(1, 3, -1, 0)));
  CHECK(all(as_half2((ushort2)(0x3c00, 0xc000)) == (half2)(1, -2)) && as_int(v.xy) == 0x42003c00);

  // Vectors.
  v.hi = v.lo * 2;
  CHECK(all(v == (half4)(1, 3, 2, 6)) && v.s3 == 6 && all(v.wzyx == (half4)(6, 2, 3, 1)));
  CHECK(all((v > (half)2) == (short4)(0, -1, 0, -1)) && any(v == 6) && all((v && 1) == -1));
  v = v < (half)2.5h ? v : -v;
  CHECK(all(v == (half4)(1, -3, 2, -6)));
  CHECK(all(vector == (half4)(1, 2, 3, 4) * (0.1h * one)));

  // Memory.
  struct pair p = {1, 2, (half3)(3, 4, 5)}, q = p;
  q.h += q.v.z;
  CHECK(q.h == 7 && p.h == 2 && q.c == 1);
  CHECK(table[zero] == 1 && table[1] == tiny && table[2] == 65504 && table[3 + zero] == 0x1.8p0h);
  half list[5];
  for (int i = 0; i < 5; i++)
    list[i] = i * third;
  CHECK(sum(list, 5) == 0x1.aa8p1h && scaled(list[3 - zero], 2) == 2);
  vstore2((half2)(7, 8), 1, list);
  CHECK(list[2] == 7 && list[3] == 8 && list[1] == third && all(vload3(0, list + 2).xy == (half2)(7, 8)));
  vstore_half(0.1f, 0, list);
  CHECK(list[0] == 0.1h && vload_half(0, list) == 0x1.998p-4f);
  local half shared[16];
  shared[get_local_id(0)] = get_local_id(0) + 0.5h;
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(shared[0] == 0.5h && shared[get_local_size(0) - 1] == (half)get_local_size(0) - 0.5h);

  // Macros.
  CHECK(HALF_DIG == 3 && HALF_MANT_DIG == 11 && HALF_MAX_10_EXP == 4 && HALF_MAX_EXP == 16 && HALF_RADIX == 2);
  CHECK(HALF_MIN_10_EXP == -4 && HALF_MIN_EXP == -13 && HALF_MAX == 65504 && HALF_MIN == 0x1p-14h && HALF_EPSILON == 0x1p-10h);
  CHECK(kind(M_PI_H) == 2 && M_PI_H == 0x1.92p1h && as_ushort(M_E_H) == 0x4170 && M_SQRT1_2_H == 0x1.6ap-1h);
  CHECK(M_LOG2E_H == (half)M_LOG2E && M_LOG10E_H == (half)M_LOG10E && M_LN2_H == (half)M_LN2 && M_LN10_H == (half)M_LN10);
  CHECK(M_PI_2_H == (half)M_PI_2 && M_PI_4_H == (half)M_PI_4 && M_1_PI_H == (half)M_1_PI && M_2_PI_H == (half)M_2_PI);
  CHECK(M_2_SQRTPI_H == (half)M_2_SQRTPI && M_SQRT2_H == (half)M_SQRT2);
  DONE;
}
