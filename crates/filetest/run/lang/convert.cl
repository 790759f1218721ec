// Conversions: implicit, explicit, convert_ with saturation and rounding, as_.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  CHECK((uchar)300 == 44 && (char)200 == -56);
  CHECK((int)3.9f == 3 && (int)-3.9f == -3);
  CHECK(convert_int(2.5f) == 2 && convert_int_rte(2.5f) == 2 && convert_int_rte(3.5f) == 4);
  CHECK(convert_int_rtp(2.1f) == 3 && convert_int_rtn(-2.1f) == -3 && convert_int_rtz(-2.9f) == -2);
  CHECK(convert_uchar_sat(300) == 255 && convert_uchar_sat(-5) == 0 && convert_char_sat(200) == 127);
  CHECK(convert_uchar_sat(1e10f) == 255 && convert_int_sat(1e20f) == INT_MAX && convert_int_sat(-1e20) == INT_MIN);
  CHECK(convert_int_sat(NAN) == 0);
  CHECK(convert_uint_sat(-1) == 0 && convert_uint_sat(-1.0f) == 0);
  CHECK(convert_ulong_sat(1e30f) == ULONG_MAX && convert_long_sat(1e30f) == LONG_MAX);
  CHECK(convert_float(16777217) == 16777216.0f);
  CHECK(convert_float_rtp(16777217) == 16777218.0f && convert_float_rtz(16777217) == 16777216.0f);
  CHECK(convert_float_rtn(-16777217) == -16777218.0f);
  CHECK(convert_float_rtz(ULONG_MAX) < 18446744073709551616.0f);
  CHECK(convert_float_rte(ULONG_MAX) == 18446744073709551616.0f);
  CHECK(convert_float_rtp(0.1) > convert_float_rtn(0.1));
  CHECK(all(convert_uchar4_sat_rte((float4)(-1, 0.5f, 1.5f, 400)) == (uchar4)(0, 0, 2, 255)));
  CHECK(all(convert_int4((float4)(1.5f, -1.5f, 2, 3)) == (int4)(1, -1, 2, 3)));
  CHECK(all(convert_double2((int2)(1, -2)) == (double2)(1, -2)));
  CHECK(all(convert_short8((uchar8)(255)) == (short8)(255)));
  CHECK(all(convert_long3((char3)(-1)) == (long3)(-1)));
  CHECK(as_uint(1.0f) == 0x3f800000u && as_float(0x40000000) == 2.0f && as_ulong(1.0) == 0x3ff0000000000000ul);
  CHECK(all(as_uchar4(0x04030201) == (uchar4)(1, 2, 3, 4)));
  CHECK(as_int((short2)(1, 2)) == 0x20001);
  CHECK(all(as_short8((int4)(65537)) == (short8)(1)));
  CHECK(all(as_int3((float3)(1)) == (int3)(0x3f800000)));
  CHECK((-1 < 1u) == 0 && ((char)-1 < (uchar)1) == 1);
  CHECK((uint)-1 == 0xffffffffu && (ulong)-1 == ULONG_MAX && (ulong)(uint)-1 == 0xfffffffful);
  CHECK((bool)0.5f == 1 && (bool)2 == true && (int)(bool)256 == 1);
  float f = 1; double d = f / 3;
  CHECK(d != 1.0 / 3 && fabs(d - 1.0 / 3) < 1e-7);
  short s = (short)40000;
  CHECK(s == -25536 && s + 0 == -25536);
  uchar uc = 255; uc++;
  CHECK(uc == 0);
  CHECK(1 / 2 * 2.0 == 0 && 1 / 2.0 * 2 == 1);
  CHECK(sizeof(1 ? (char)1 : (char)2) == 4 && sizeof(1.0f) == 4 && sizeof(1.0) == 8 && sizeof(1l) == 8 && sizeof(1u) == 4);
  CHECK(0x7fffffff + 0u == 2147483647u && 4294967295 == 0xfffffffful && 010 == 8);
  CHECK(sizeof(char) == sizeof((char)1) && 0x1p-2f == 0.25f && 1e3 == 1000 && .5f == 5.e-1f);
  DONE;
}
