// Pass-through of short vectors whose components are all treated equally, from load to store: loop-carried sums, in
// loops that all work-items leave together or each in its own iteration; constants that differ by component, uniform
// ones, casts, selects; and vectors whose components are combined after all, in the loop or after it.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// run: global=24x4 local=8x2
// arg: buffer int 8192 = zero
// arg: buffer int 2048 = random 11
// arg: buffer uchar 2048 = random 12
// arg: value int 7
// arg: value uint 4

kernel void k(global int *out, global const int *in, global const uchar *bytes, int n, uint step) {
  local int4 tile[64];
  const uint g = get_global_id(0) + get_global_id(1) * 24, l = get_local_id(0) + get_local_id(1) * get_local_size(0);
  const uint all = get_global_size(0), size = get_local_size(0) * get_local_size(1);
  global int4 *to = (global int4 *)out + (g - get_global_offset(0)) * 16;
  global const int4 *from = (global const int4 *)in;
  const int4 weights = (int4)(1, -2, 3, n);

  // The same trip count for all, with a counter that wraps only in theory.
  int4 sum = (int4)(5);
  for (int r = 0; r < n; r++)
    sum = sum * weights + from[(g & 63) + r];
  to[0] = sum;

  // Each its own.
  int4 a = 0, b = (int4)(n);
  for (uint i = g; i < 90; i += step + (g & 1)) {
    a += vload4(i & 127, in) >> 3;
    b = max(b, a ^ weights);
    if (i % 5 == 3)
      b -= vload4(i & 127, in);
  }
  to[1] = a;
  to[2] = b + a;

  // Components are combined in the loop, or after it.
  int3 c = (int3)(1, 2, 3);
  int2 d = vload2(g & 127, in), e = d;
  for (int r = 0; r < n; r++) {
    c += vload3((g & 63) + r, in);
    d += vload2((g & 63) + r, in);
    e = e.yx + d;
  }
  vstore3(c, 0, (global int *)(to + 3));
  vstore2(d, 0, (global int *)(to + 4));
  to[5].xy = e * 3;
  to[5].zw = (int2)(c.x + c.y * c.z, d.x - d.y);

  // Bytes to numbers and back.
  float4 f = 0.5f;
  for (int r = 0; r < n; r++)
    f = f * (float4)(0.5f, 0.25f, 0.125f, 0.0625f) + convert_float4(vload4((g & 127) + r, bytes));
  to[6] = convert_int4(f);
  to[7] = convert_int4(isgreater(f, 100.0f) ? (int4)(1) : convert_int4(f) % 7);

  // Through local memory, by a tree.
  tile[l] = from[g & 127];
  for (uint m = size; m > 1; m = (m + 1) / 2) {
    const uint half_m = (m + 1) / 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < m - half_m)
      tile[l] += tile[l + half_m];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  to[8] = tile[0];
  to[9] = n & 1 ? tile[l] : sum;
  to[10] = (g & 1) ? tile[l] + weights : -sum;

  // Private arrays of them, and nested loops.
  int4 own[3];
  for (int r = 0; r < 3; r++)
    own[r] = from[(g & 63) + r];
  int4 h = own[n % 3];
  for (int r = 0; r < 3; r++) {
    for (int q = 0; q < (int)(g & 3); q++)
      h = h * 31 + from[(g & 63) + q] - own[r];
    own[r] = h;
  }
  to[11] = h;
  to[12] = own[1] ^ own[2];
}
