// Work-items that return before a barrier, in straight code or in a loop, while the others of their vectors continue
// after it: the values of those, and local memory, are kept.
// run: global=64 local=64
// run: global=51 local=17
// run: global=36 local=9 offset=5
// run: global=24x6 local=6x3
// arg: buffer int 256 = zero
// arg: buffer uchar 64 = random 9
// arg: value int 6

kernel void k(global int *out, global const uchar *in, int n) {
  local int t[64], u[64];
  const int items = get_local_size(0) * get_local_size(1);
  const int l = get_local_id(0) + get_local_id(1) * get_local_size(0);
  const int g = get_global_id(0) - get_global_offset(0) + get_global_id(1) * get_global_size(0);
  t[l] = l * 3 + 1;
  u[l] = 0;
  int kept = in[(g * 5) & 63];
  if (in[g & 63] % 3 == 0) {
    out[g] = -1 - kept;
    return;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int next = t[(l + 1) % items], last = t[(l + items - 1) % items];
  barrier(CLK_LOCAL_MEM_FENCE);
  t[l] = next + kept;
  for (int r = 0; r < n; r++) {
    const int x = in[(g + r * 7) & 63];
    // Both paths lead to the same block.
    switch (x & 3) {
    case 1:
    default:
      kept += x;
    }
    if (x > 215) {
      u[l] = 1 + r;
      out[g] = 1000 * r + kept;
      return;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // A work-item that has returned has left a mark, in this iteration or before.
    const int gone = u[(l + 3) % items];
    if (gone)
      kept += gone;
    barrier(CLK_LOCAL_MEM_FENCE);
    t[l] += r;
  }
  if (kept & 1)
    return;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[g] = t[l] * 100 + kept + last;
}
