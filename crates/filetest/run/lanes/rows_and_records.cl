// Consecutive elements read to the last one, descending, shifted in place; records whose gaps must keep their content;
// private arrays accessed as other types; many lanes that add to one address.
// run: global=64 local=64
// run: global=40 local=10
// arg: buffer int 64 = zero
// arg: buffer float 192 = 1.5 -2 3.25 7 0.5
// arg: buffer int 256 = iota
// arg: buffer uchar 64 = iota
// arg: buffer uint 16 = zero

kernel void k(global int *out, global float *xyz, global int *records, global uchar *bytes, volatile global uint *bins) {
  int id = (int)get_global_id(0), n = (int)get_global_size(0), lid = (int)get_local_id(0);
  local uint hist[8];
  if (lid < 8)
    hist[lid] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  float3 p = vload3(id, xyz);
  vstore3(p.zxy * 2.0f, id, xyz);
  // Only the first and the third of four.
  records[4 * id] = id * 7;
  records[4 * id + 2] = -id;
  int r = records[4 * id + 1] + records[4 * id + 3];
  if (id & 1)
    bytes[id] = (uchar)(id * 3);
  int a[6];
  for (int i = 0; i < 6; i++)
    a[i] = id * i + 1;
  private uchar *b = (private uchar *)a;
  b[(id * 5) % 24] ^= 0x80;
  a[id % 6] += a[(id + 1) % 6];
  for (int i = 0; i < 6; i++)
    r = r * 31 + a[i];
  atomic_inc(&hist[3]);
  atomic_add(&hist[id & 1], (uint)id);
  if (id % 3 == 0)
    atomic_max(&hist[5], (uint)(id * 11 % 64));
  atomic_add(&bins[2], (uint)lid);
  uint old = atomic_or(&bins[5], 0u);
  for (;;) {
    uint seen = atomic_cmpxchg(&bins[5], old, old + 3u);
    if (seen == old)
      break;
    old = seen;
  }
  // Each gets a number of its own.
  atomic_xor(&bins[8 + (atomic_inc(&bins[6]) & 7u)], 1u);
  barrier(CLK_LOCAL_MEM_FENCE);
  r += (int)(hist[0] + hist[1] * 3 + hist[3] * 5 + hist[5] * 7);
  r += (int)as_uint(p.x) + (int)as_uint(p.y) * 3 + (int)as_uint(p.z) * 5;
  out[n - 1 - id] = r;
}
