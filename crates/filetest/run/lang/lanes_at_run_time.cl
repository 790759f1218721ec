// Lanes whose numbers are known at run time only, of vectors in each kind of memory.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct { float2 a; short8 b; double4 c; } S;
constant int4 four[2] = { (int4)(1, 2, 3, 4), (int4)(5, 6, 7, 8) };

// Not inlined, so that the bytes are passed.
__attribute__((noinline)) float of_bytes(S s, uint i) {
  return shuffle(s.a, (uint2)(i, 0)).x + shuffle(s.b, (ushort2)(i, 0)).x + shuffle(s.c, (ulong2)(i, 0)).x;
}

kernel void test(global int *out) {
  int id = get_global_id(0), one = out[id] < 5 ? 1 : 2, lid = get_local_id(0);
  uint k = lid & 3;
  CHECK(shuffle(four[one], (uint2)(one + 1, k)).y == 5 + k && shuffle(four[0], (uint2)(k, one)).y == 2);
  S s = { (float2)(1, 2), (short8)(3, 4, 5, 6, 7, 8, 9, 10), (double4)(11, 12, 13, 14) };
  CHECK(of_bytes(s, one) == 18 && of_bytes(s, one - 1) == 15 && of_bytes(s, one + 1) == 1 + 5 + 13);

  local int4 ints[8];
  local uchar16 bytes[8];
  local double2 doubles[8];
  ints[lid] = (int4)(lid, lid + 1, lid + 2, lid + 3);
  bytes[lid] = (uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  doubles[lid] = (double2)(lid, 1.5);
  barrier(CLK_LOCAL_MEM_FENCE);
  int next = (lid + one) % (int)get_local_size(0);
  CHECK(shuffle(ints[next], (uint2)(k, 0)).x == next + k);
  CHECK(shuffle(bytes[next], (uchar2)(lid + 3, 0)).x == lid + 3);
  CHECK(shuffle(doubles[next], (ulong2)(one, 0)).x == 1.5 && shuffle(doubles[next], (ulong2)(one + 1, 0)).x == next);
  CHECK(shuffle2(ints[next], ints[lid], (uint4)(3, 7, one + 4, k + 4)).w == lid + k);
  barrier(CLK_LOCAL_MEM_FENCE);
  // A lane that is stored.
  ((local int *)&ints[lid])[(lid + one) & 3] = 100 + lid;
  ((local uchar *)&bytes[lid])[lid + one] = 200;
  barrier(CLK_LOCAL_MEM_FENCE);
  CHECK(shuffle(ints[next], (uint2)(0, next + one)).y == 100 + next);
  CHECK(shuffle(bytes[next], (uchar2)(next + one, next)).x == 200);

  // Of the work-item.
  long4 longs[3] = { (long4)(one, 2, 3, 4), (long4)(one + 4, 6, 7, 8), (long4)(one + 8, 10, 11, 12) };
  CHECK(shuffle(longs[(one + 1) % 3], (ulong2)(one, 0)).x == 10);
  CHECK(shuffle(longs[lid % 3], (ulong2)(0, k)).y == lid % 3 * 4 + k + 1);
  long4 one_of = longs[one];
  ((long *)&one_of)[k] = 99;
  CHECK(shuffle(one_of, (ulong2)(k, k + 1)).x == 99 && shuffle(one_of, (ulong2)(k, k + 1)).y == 5 + ((k + 1) & 3));
  half4 halves = (half4)(one, 2, 3, 4);
  CHECK(shuffle(halves, (ushort2)(k, one)).x == k + 1);
  DONE;
}
