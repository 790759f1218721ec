// Narrow-load forwarding: counters in local memory whose addresses come from bytes of longer words, reloaded for each
// lane unless something may have changed the words meanwhile.
// run: global=64 local=64
// run: global=64 local=1
// run: global=37 local=9 offset=3
// run: global=50 local=17 offset=8
// arg: buffer int 1100 = zero
// arg: buffer uint 1024 = random 7
// arg: buffer uint 512 = random 9
// arg: value int 15
kernel void k(global uint *out, global const uint4 *in, global uint *words, int n) {
  local uint bins[4][256], few[64];
  int i = get_global_id(0), l = get_local_id(0);
  for (int k = l; k < 256; k += get_local_size(0))
    bins[0][k] = bins[1][k] = bins[2][k] = bins[3][k] = few[k & 63] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < 3; k++) {
    const uint4 v = in[i + k * 60];
    const uchar16 b = as_uchar16(v);
    const ushort8 s = as_ushort8(v);
    atomic_inc(&bins[0][v.x & 255]);
    atomic_inc(&bins[1][v.x >> 24]);
    atomic_add(&bins[2][v.y >> 8 & 255], b.sc);
    atomic_inc(&bins[0][b.s7]);
    atomic_inc(&bins[3][(uchar)(v.z >> 16) ^ 1]);
    atomic_inc(&bins[1][s.s6 >> 8]);
    atomic_inc(&few[(v.w >> 12) & 63]);
    atomic_inc(&few[(b.s1 * 4 + l % 4) & 63]);
    // Across the end of the word there is nothing.
    atomic_inc(&bins[2][v.x >> 24 & 0xffff]);
  }
  // Words that change between their bytes.
  uint w = words[i * 4];
  atomic_inc(&bins[0][w & 255]);
  words[i * 4] = ~w;
  atomic_inc(&bins[0][w >> 8 & 255]);
  ((global uchar *)words)[i * 16 + 2] ^= 0x5a;
  atomic_inc(&bins[1][w >> 16 & 255]);
  w = words[i * 4];
  atomic_inc(&bins[1][w >> 24]);
  if (w & 1) {
    w = words[i * 4 + 1];
    atomic_inc(&bins[2][w >> 8 & 255]);
    if (i < n)
      atomic_inc(&bins[2][w & 255]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = l; k < 256; k += get_local_size(0)) {
    for (int c = 0; c < 4; c++)
      atomic_add(&out[c * 256 + k], bins[c][k]);
    if (k < 64)
      atomic_add(&out[1024 + k], few[k]);
  }
}
