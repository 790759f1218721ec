// Grid-stride loops in a kernel without barriers, which is regroupable; with short vectors, and with several
// loop-carried values.
// run: global=64 local=8
// run: global=63 local=9 offset=5
// run: global=60 local=7
// run: global=5 local=5
// run: global=16x4 local=4x2
// arg: buffer uint 1024 = zero
// arg: buffer float 8192 = random 9
// arg: buffer uchar 8192 = random 3
// arg: buffer float 8192 = zero
// arg: value uint 1801
// arg: value uint 37

kernel void k(global uint *out, global const float *in, global const uchar *bytes, global float *to, uint n, uint few) {
  const uint place = get_global_id(0) - get_global_offset(0) + get_global_size(0) * get_global_id(1);
  float4 four = 0;
  uint a = 1, b = 2, c = place;
  for (uint i = get_global_id(0); i < n / 4; i += get_global_size(0)) {
    four = four * 0.5f + vload4(i, in);
    a = a * 31 + bytes[i];
    b ^= a;
    c += bytes[2 * i] < 100 ? b : bytes[i + few];
  }
  for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
    if (get_global_id(1) == 0)
      to[i] = in[i] + bytes[i] * 2.0f;
  // No step.
  for (uint i = get_global_id(0); i < few; i += few)
    a += bytes[i];
  out[place * 4] = a;
  out[place * 4 + 1] = b;
  out[place * 4 + 2] = c;
  out[place * 4 + 3] = as_uint(four.x) ^ as_uint(four.y) ^ as_uint(four.z) ^ as_uint(four.w);
}
