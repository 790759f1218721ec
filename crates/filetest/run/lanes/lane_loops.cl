// Atomic operations that run lane by lane in loops over the lanes that are on: in local memory and in buffers, of 32 and
// 64 bits, with old values used and unused, in branches and in loops that lanes leave in different iterations; minima and
// maxima that change memory, and those that do not.
// run: global=64 local=64
// run: global=96 local=24 offset=3
// run: global=37 local=37
// run: global=50 local=17
// arg: buffer uint 512 = zero
// arg: buffer ulong 64 = zero
// arg: buffer uint 1024 = random 11
kernel void k(global uint *out, global ulong *wide, global const uint *in) {
  local uint bins[64], turns[8];
  local int low[16], high[16];
  const uint l = get_local_id(0), size = get_local_size(0), g = get_global_id(0);
  for (uint i = l; i < 64; i += size)
    bins[i] = 0;
  for (uint i = l; i < 16; i += size) {
    low[i] = 1 << 20;
    high[i] = -5;
    if (i < 8)
      turns[i] = 0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  uint sum = 0;
  for (uint i = g; i < 1024; i += 128) {
    const uint w = in[i];
    if (w & 3)
      atomic_inc(&bins[w >> 8 & 63]);
    if (w & 12)
      sum += atomic_add(&bins[(w >> 4 & 31) + 32], 0) >> 31;
    // A number for each work-item that comes by: all together are known.
    if (w & 16)
      sum += atomic_add(&turns[w & 7], 2) & 1;
    if (w & 32)
      atomic_add(&wide[w & 31], (ulong)w << 20);
    if (w & 64)
      sum += (uint)(atom_max(&wide[32 + (w & 15)], (ulong)w) > 0xffffffffu);
    atomic_min(&low[w & 15], (int)(w >> 3 & 0xffff) - 9);
    atomic_max(&high[w & 15], (int)(w >> 3 & 0xffff) - 9);
    if (w & 128) {
      atomic_max(&out[128 + (w & 31)], w);
      atomic_min((global int *)&out[160 + (w & 31)], -(int)(w & 0xffff));
      atomic_min(&out[192 + (w & 31)], 7);
      sum += atomic_max((global int *)&out[224 + (w & 3)], -1) == -1;
    }
    for (uint n = w & 7; n; n--) {
      uint old = bins[n], seen;
      while ((seen = atomic_cmpxchg(&bins[n], old, old + 3)) != old)
        old = seen;
      atomic_xor(&out[256 + (w & 63)], w << n);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = l; i < 64; i += size)
    atomic_add(&out[i], bins[i]);
  for (uint i = l; i < 8; i += size)
    atomic_add(&out[64 + i], turns[i]);
  for (uint i = l; i < 16; i += size) {
    atomic_min((global int *)&out[80 + i], low[i] - (1 << 24));
    atomic_max((global int *)&out[96 + i], high[i]);
  }
  out[320 + g] = sum;
}
