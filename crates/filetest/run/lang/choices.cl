// Conversions of a choice of two constants, which compilers make one of the converted.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  // The least number, which has the bits of the integer one.
  float least = zero < 5 ? as_float(1) : 0.0f, none = zero > 5 ? as_float(1) : 0.0f;
  CHECK(convert_uint_sat(least) == 0 && convert_int_sat(least) == 0 && convert_long_sat(least) == 0);
  CHECK(convert_int_sat_rtp(least) == 1 && convert_int_sat_rte(least) == 0 && convert_int_sat_rtp(none) == 0);
  CHECK(trunc(least) == 0 && rint(least) == 0 && floor(least) == 0);
  half small = zero < 5 ? as_half((short)1) : (half)0.0f;
  CHECK(as_uint((float)small) == 0x33800000 && convert_int_sat(small) == 0);
  int one = zero < 5 ? 1 : 0;
  CHECK(convert_int_sat(as_float(one)) == 0 && (float)one == 1.0f && (int)ceil(as_float(one)) == 1);
  CHECK((float)as_half((short)one) < 0.5f);
#ifdef cl_khr_fp64
  CHECK((double)least == 0x1.0p-149 && (float)(double)least == least && convert_half(least) == 0);
#endif
  // Below zero.
  float less = zero < 5 ? -1.0f : 0.0f, other = zero > 5 ? 0.0f : -1.0f;
  CHECK(convert_uint_sat(less) == 0 && convert_ulong_sat(less) == 0 && convert_uchar_sat(less) == 0);
  CHECK(convert_uint_sat(other) == 0 && convert_ushort_sat(other) == 0 && convert_int_sat(other) == -1);
  // Of integers, it is the number.
  CHECK((float)(zero < 5 ? -1 : 0) == -1.0f && (float)(zero < 5 ? 1u : 0u) == 1.0f);
  DONE;
}
