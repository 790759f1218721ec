// Exact results of the math library, and special values.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  CHECK(sqrt(16.0f) == 4 && sqrt(2.0) == 1.4142135623730951 && isnan(sqrt(-1.0f)) && cbrt(27.0f) == 3.0f);
  CHECK(floor(-1.5f) == -2 && ceil(-1.5f) == -1 && trunc(-1.5f) == -1 && round(-1.5f) == -2 && rint(-1.5f) == -2 && rint(2.5) == 2);
  CHECK(round(0.49999997f) == 0 && round(2.5) == 3);
  CHECK(fabs(-2.0f) == 2 && fmod(7.0f, 3.0f) == 1 && fmod(-7.0, 3.0) == -1 && remainder(7.0f, 4.0f) == -1);
  CHECK(fmin(1.0f, NAN) == 1 && fmax(NAN, 2.0f) == 2 && fdim(5.0f, 3.0f) == 2 && fdim(3.0f, 5.0f) == 0);
  CHECK(fma(2.0f, 3.0f, 4.0f) == 10 && mad(2.0, 3.0, 4.0) == 10);
  CHECK(exp(0.0f) == 1 && exp2(3.0f) == 8 && exp10(2.0f) == 100 && expm1(0.0f) == 0 && exp(-INFINITY) == 0 && isinf(exp(1000.0f)));
  CHECK(log(1.0f) == 0 && log2(8.0f) == 3 && log10(1000.0) == 3 && log1p(0.0f) == 0 && log(0.0f) == -INFINITY && isnan(log(-1.0f)));
  CHECK(fabs(pow(2.0f, 10.0f) - 1024) < 0.002f && fabs(pown(-2.0f, 3) + 8) < 1e-5f && fabs(powr(4.0f, 0.5f) - 2) < 1e-5f);
  CHECK(fabs(rootn(27.0f, 3) - 3) < 1e-5f && pow(0.0f, 0.0f) == 1);
  CHECK(pow(-1.0f, INFINITY) == 1 && isnan(powr(-1.0f, 2.0f)) && isnan(powr(1.0f, INFINITY)) && pow(1.0f, NAN) == 1);
  float small = as_float(0x802e4cabu + (uint)(out[get_global_id(0)] + 1));
  CHECK(isnan(powr(small, 2.0f)) && isnan(powr(small, -0x1p-86f)) && isnan(powr(small, 0x1p-86f)));
  CHECK(sin(0.0f) == 0 && cos(0.0f) == 1 && tan(0.0f) == 0 && isnan(sin(INFINITY)) && sinpi(1.0f) == 0 && cospi(0.5f) == 0 && tanpi(0.25f) == 1);
  CHECK(signbit(sin(-0.0f)) && asin(0.0f) == 0 && acos(1.0f) == 0 && atan2(0.0f, 1.0f) == 0 && atan2pi(1.0f, 0.0f) == 0.5f && isnan(acos(2.0f)));
  CHECK(sinh(0.0f) == 0 && cosh(0.0f) == 1 && tanh(INFINITY) == 1 && atanh(1.0f) == INFINITY && asinh(0.0) == 0 && acosh(1.0f) == 0);
  CHECK(ldexp(1.5f, 4) == 24 && ilogb(8.0f) == 3 && logb(8.0f) == 3 && ilogb(0x1p-140f) == -140 && ldexp(1.0f, -149) == 0x1p-149f);
  CHECK(copysign(2.0f, -0.0f) == -2 && nextafter(1.0f, 2.0f) == 1.0f + FLT_EPSILON && hypot(3.0f, 4.0f) == 5 && maxmag(-3.0f, 2.0f) == -3 && minmag(-3.0f, 2.0f) == 2);
  CHECK(erf(0.0f) == 0 && erfc(0.0f) == 1 && fabs(tgamma(5.0f) - 24) < 1e-4f && fabs(lgamma(1.0f)) < 1e-7f);
  CHECK(rsqrt(4.0f) == 0.5f && native_sqrt(4.0f) == 2 && isnan(nan(0u)));
  CHECK(fabs(half_recip(2.0f) - 0.5f) < 4e-4f && fabs(native_rsqrt(16.0f) - 0.25f) < 2e-4f && half_divide(6.0f, 2.0f) == 3);
  CHECK(native_recip(-0.0f) == -INFINITY && half_rsqrt(0.0f) == INFINITY && native_rsqrt(INFINITY) == 0 && isnan(native_rsqrt(-1.0f)));
  CHECK(signbit(half_recip(-INFINITY)) && half_recip(-INFINITY) == 0 && native_rsqrt(0x1p-140f) > 1e18f && isnan(native_recip(NAN)));
  CHECK(all(fabs(native_rsqrt((float3)(1, 4, 16)) - (float3)(1, 0.5f, 0.25f)) < (float3)(4e-4f)));
  int e, q, s;
  float m, c;
  CHECK(frexp(12.0f, &e) == 0.75f && e == 4);
  CHECK(modf(-3.25f, &m) == -0.25f && m == -3);
  CHECK(fract(-0.25f, &m) == 0.75f && m == -1);
  CHECK(remquo(7.0f, 4.0f, &q) == -1 && (q & 7) == 2);
  CHECK(sincos(0.0f, &c) == 0 && c == 1);
  lgamma_r(-0.5f, &s);
  CHECK(s == -1);
  float2 fr, c2;
  int2 e2;
  fr = frexp((float2)(1, 8), &e2);
  CHECK(all(e2 == (int2)(1, 4)) && all(fr == (float2)(0.5f)));
  CHECK(all(sqrt((float4)(1, 4, 9, 16)) == (float4)(1, 2, 3, 4)) && all(fmax((float2)(1, 5), 3.0f) == (float2)(3, 5)));
  CHECK(all(pown((float2)(2, 3), (int2)(3, 2)) == (float2)(8, 9)) && all(ldexp((float2)(1), 2) == (float2)(4)));
  CHECK(all(fract((float2)(1.25f, 2.5f), &c2) == (float2)(0.25f, 0.5f)) && c2.y == 2);
  CHECK(fabs(sin(1e6f) - -0.34999350f) < 1e-6f && fabs(cos(1e22) - 0.5232147853951389) < 1e-15);
  DONE;
}
