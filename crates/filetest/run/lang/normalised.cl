// Integers that become normalised floats and integers again, as pixels do that are read and written; the compiler leaves
// both products out. With another factor back, both stay.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)

kernel void test(global int *out) {
  for (int k = 0; k < 256; k++) {
    uchar4 a = (uchar4)(k, 255 - k, k ^ 0x55, 255);
    float4 f = convert_float4(a) * (1.0f / 255.0f);
    CHECK(all(convert_uchar4_sat_rte(f * 255.0f) == a));
    uchar4 less = convert_uchar4_sat_rte(f * 254.0f);
    CHECK(less.w == 254 && less.x == (k < 128 ? k : k - 1));
    ushort2 b = (ushort2)(k * 257, 65535 - k);
    CHECK(all(convert_ushort2_sat_rte(convert_float2(b) * (1.0f / 65535.0f) * 65535.0f) == b));
  }
  out[get_global_id(0)] = 0;
}
