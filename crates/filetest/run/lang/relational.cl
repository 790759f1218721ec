// Relational and common built-ins.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  CHECK(isequal(1.0f, 1.0f) == 1 && isequal(NAN, NAN) == 0 && isnotequal(NAN, NAN) == 1);
  CHECK(all(isequal((float2)(1, NAN), (float2)(1, 1)) == (int2)(-1, 0)));
  CHECK(all(isgreater((double2)(2, 0), (double2)(1, 1)) == (long2)(-1, 0)));
  CHECK(isless(1.0f, 2.0f) && islessequal(2.0f, 2.0f) && isgreaterequal(2.0, 2.0) && islessgreater(1.0f, 2.0f) && !islessgreater(NAN, 2.0f));
  CHECK(isfinite(1.0f) && !isfinite(INFINITY) && isinf(-INFINITY) && isnan(NAN) && isnormal(1.0f) && !isnormal(1e-40f) && !isnormal(0.0f));
  CHECK(isordered(1.0f, 2.0f) && isunordered(NAN, 1.0f) && signbit(-0.0f) == 1 && signbit(1.0) == 0);
  CHECK(all(signbit((float2)(-1, 1)) == (int2)(-1, 0)));
  CHECK(any((char2)(0, -1)) == 1 && any((char2)(1, 1)) == 0 && all((int2)(-1, -1)) == 1 && any(-1) == 1 && all(1) == 0);
  CHECK(bitselect(0xf0f0, 0x0f0f, 0xff00) == 0x0ff0);
  CHECK(bitselect(1.0f, -2.0f, as_float(0x80000000)) == -1.0f);
  CHECK(select(1, 2, 0) == 1 && select(1, 2, 5) == 2 && select(1.0f, 2.0f, 1) == 2.0f);
  CHECK(all(select((int2)(1, 2), (int2)(3, 4), (int2)(-1, 1)) == (int2)(3, 2)));
  CHECK(all(select((float2)(1, 2), (float2)(3, 4), (uint2)(0x80000000u, 0u)) == (float2)(3, 2)));
  CHECK(clamp(5.0f, 0.0f, 1.0f) == 1.0f && mix(0.0f, 10.0f, 0.25f) == 2.5f && step(1.0f, 0.5f) == 0.0f && step(1.0f, 1.0f) == 1.0f);
  CHECK(smoothstep(0.0f, 1.0f, 0.5f) == 0.5f && sign(-3.0f) == -1.0f && sign(0.0f) == 0.0f && sign(NAN) == 0.0f);
  CHECK(fabs(degrees(M_PI_F) - 180.0f) < 1e-4f && fabs(radians(180.0f) - M_PI_F) < 1e-6f);
  CHECK(all(max((float2)(1, 5), 3.0f) == (float2)(3, 5)) && all(mix((float2)(0), (float2)(2), 0.5f) == (float2)(1)));
  CHECK(dot((float4)(1, 2, 3, 4), (float4)(4, 3, 2, 1)) == 20.0f && dot(2.0f, 3.0f) == 6.0f);
  CHECK(all(cross((float3)(1, 0, 0), (float3)(0, 1, 0)) == (float3)(0, 0, 1)));
  CHECK(all(cross((float4)(1, 0, 0, 9), (float4)(0, 1, 0, 9)) == (float4)(0, 0, 1, 0)));
  CHECK(length((float2)(3, 4)) == 5.0f && distance((float2)(1, 1), (float2)(4, 5)) == 5.0f && length((double3)(2, 3, 6)) == 7.0);
  CHECK(fabs(length(normalize((float3)(1, 2, 3))) - 1) < 1e-6f && all(normalize((float2)(0)) == (float2)(0)));
  CHECK(fabs(fast_length((float2)(3, 4)) - 5.0f) < 1e-3f && isfinite(length((float2)(1e30f, 1e30f))));
  DONE;
}
