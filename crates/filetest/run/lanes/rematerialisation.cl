// Rematerialisation after barriers, from values that the group keeps: sums with loop counters, comparisons, limits; of
// counters that changed meanwhile, of earlier iterations, in nested loops, as conditions and addresses, together with
// private arrays.
// run: global=64 local=64
// run: global=37 local=37
// run: global=90 local=9 offset=3
// run: global=24x6 local=8x3
// run: global=5 local=1
// arg: buffer int 1152 = zero
// arg: buffer int 1024 = random 7
// arg: value int 11
// arg: value int 3

kernel void k(global int *out, global const int *in, int n, int step) {
  local int line[256];
  const int i = (int)get_local_id(0), row = (int)get_local_id(1) * 64;
  const int place = (int)(get_global_id(1) * 128 + get_global_id(0));
  private int own[4];
  int h = place, older = 0;
  line[row + i] = in[place & 1023];
  own[0] = i, own[1] = row, own[2] = n, own[3] = step;

  for (int d = 0; d < n + step; d++) {
    // Before the barrier, from this iteration's counter.
    const int j = d - i, limit = min(j, n - i);
    const bool inside = j >= 0 && j < n;
    const int mask = d * 5 ^ i;
    private int *const mine = own + (d & 3);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (inside)
      h = h * 31 + in[j + 64] + line[row + (mask & 7) % (int)get_local_size(0)];
    h += limit * 7 + older;
    *mine += h;
    barrier(CLK_LOCAL_MEM_FENCE);
    // From the previous iteration, and after the counter of another loop changed.
    older = j * 3;
    for (int e = d; e > 0; e -= step) {
      const int sum = e + d - i;
      barrier(CLK_LOCAL_MEM_FENCE);
      line[row + i] += sum;
      if (sum == n)
        h ^= in[sum + i];
    }
    h += (j << 3) - (mask & d);
  }
  int u = n;
  int last = 0;
  do {
    last = u * 2 - i;
    u -= step;
    barrier(CLK_GLOBAL_MEM_FENCE);
    h = h * 17 + in[(last + u) & 1023];
  } while (u > 0);
  barrier(CLK_LOCAL_MEM_FENCE);
  h += last + own[0] + own[1] * 3 + own[2] * 5 + own[3] * 7;
  out[place] = h + line[row + (i ^ 1) % (int)get_local_size(0)];
}
