// vload, vstore, half memory, shuffle.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  int a[16];
  for (int i = 0; i < 16; i++) a[i] = i;
  CHECK(all(vload4(1, a) == (int4)(4, 5, 6, 7)));
  CHECK(all(vload3(1, a) == (int3)(3, 4, 5)));
  CHECK(all(vload2(0, a + 1) == (int2)(1, 2)));
  CHECK(vload16(0, a).sf == 15 && vload8(1, a).s0 == 8);
  vstore3((int3)(100, 101, 102), 2, a);
  CHECK(a[6] == 100 && a[8] == 102 && a[9] == 9 && a[5] == 5);
  uchar bytes[9];
  vstore8((uchar8)(1, 2, 3, 4, 5, 6, 7, 8), 0, bytes + 1);
  CHECK(bytes[1] == 1 && bytes[8] == 8 && vload4(0, bytes + 3).x == 3);
  ushort raw[8];
  half *h = (half *)raw;
  vstore_half(1.5f, 0, h);
  CHECK(raw[0] == 0x3e00 && vload_half(0, h) == 1.5f);
  vstore_half4((float4)(1, -2, 65504, 1e9f), 0, h);
  CHECK(raw[0] == 0x3c00 && raw[1] == 0xc000 && raw[2] == 0x7bff && raw[3] == 0x7c00);
  vstore_half_rtz(65535.0f, 0, h);
  CHECK(raw[0] == 0x7bff);
  vstore_half_rtp(1.0001f, 0, h);
  CHECK(raw[0] == 0x3c01);
  vstore_half_rtn(1.0009f, 0, h);
  CHECK(raw[0] == 0x3c00);
  vstore_half_rte(0x1p-24f, 0, h);
  CHECK(raw[0] == 1 && vload_half(0, h) == 0x1p-24f);
  vstore_half(1.0, 1, h);
  CHECK(raw[1] == 0x3c00);
  vstore_half3((float3)(1, 2, 3), 1, h);
  CHECK(raw[3] == 0x3c00 && raw[5] == 0x4200);
  vstorea_half3((float3)(1, 2, 3), 1, h);
  CHECK(raw[4] == 0x3c00 && raw[6] == 0x4200 && vloada_half3(1, h).z == 3.0f);
  CHECK(all(vload_half2(2, h) == (float2)(1, 2)));
  int4 v = (int4)(10, 11, 12, 13);
  CHECK(all(shuffle(v, (uint4)(3, 2, 1, 0)) == (int4)(13, 12, 11, 10)));
  CHECK(all(shuffle(v, (uint2)(7, 4)) == (int2)(13, 10)));
  CHECK(all(shuffle2(v, v + 10, (uint4)(0, 4, 7, 15)) == (int4)(10, 20, 23, 23)));
  uint8 dyn = (uint8)(get_global_id(0)) & 3;
  CHECK(shuffle(v, dyn).s7 == 10 + (int)(get_global_id(0) & 3));
  float2 f2 = vload2(0, (private float *)a);
  CHECK(as_int(f2.y) == 1);
  DONE;
}
