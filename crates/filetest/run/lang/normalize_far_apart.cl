// Vectors whose components differ by more than half of the exponents: each component of the result keeps its precision.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  float one = 1.0f + 0.0f * get_global_id(0);
  float2 v = normalize((float2)(0x1.8p+100f, 0x1.234567p-10f) * one);
  CHECK(v.x == 1.0f && fabs(v.y - 0x1.234567p-10f / 0x1.8p+100f) <= 0x1p-133f);
  v = normalize((float2)(-0x1p+61f, 0x1.234566p-60f) * one);
  CHECK(v.x == -1.0f && v.y == 0x1.234566p-121f);
  v = normalize((float2)(0x1p-149f, -0x1p-60f) * one);
  CHECK(v.x == 0x1p-89f && v.y == -1.0f);
  v = normalize((float2)(0x1p-149f, 0.0f) * one);
  CHECK(v.x == 1.0f && v.y == 0.0f);
  v = normalize((float2)(MAXFLOAT, 0x1p-149f) * one);
  CHECK(v.x == 1.0f && v.y == 0.0f);
  float4 w = normalize((float4)(MAXFLOAT, MAXFLOAT, -MAXFLOAT, MAXFLOAT) * one);
  CHECK(all(fabs(w - (float4)(0.5f, 0.5f, -0.5f, 0.5f)) <= 0x1p-24f));
  w = normalize((float4)(INFINITY, 1, -INFINITY, -0.0f) * one);
  CHECK(fabs(w.x - M_SQRT1_2_F) < 1e-6f && w.y == 0 && w.z == -w.x && w.w == 0);
  CHECK(all(isnan(normalize((float3)(NAN, 0x1p+100f, 0x1p-100f) * one))));
  CHECK(all(normalize((float3)(0.0f, -0.0f, 0.0f) * one) == 0.0f));
  CHECK(normalize(-0x1p-149f * one) == -1.0f && normalize(0x1p+127f * one) == 1.0f);

  double two = 1.0 + 0.0 * get_global_id(0);
  double2 d = normalize((double2)(0x1p+600, 0x1.23456789abcdep-420) * two);
  CHECK(d.x == 1.0 && d.y == 0x1.23456789abcdep-1020);
  d = normalize((double2)(0x1p-1074, -0x1p-460) * two);
  CHECK(d.x == 0x1p-614 && d.y == -1.0);
  DONE;
}
