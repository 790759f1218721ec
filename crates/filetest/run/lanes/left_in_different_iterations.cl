// Loops that work-items leave in different iterations, before a barrier: a value that is uniform in each iteration is
// varying after the loop, whether only a store uses it there, or a value computed from it in the last iteration.
// run: global=64 local=64
// run: global=45 local=15
// run: global=36 local=12 offset=4
// arg: buffer int 640 = zero
// arg: buffer uchar 256 = random 9
// arg: value int 3

kernel void k(global int *out, global const uchar *in, int n) {
  local int t[64];
  const int l = get_local_id(0), items = get_local_size(0);
  global int *o = out + 8 * (get_global_id(0) - get_global_offset(0));
  int i = 0, j, m = 0;
  for (;;) {
    if (in[(i + l) & 255] > 200)
      break;
    i++;
  }
  for (;;) {
    j = m + l;
    if (in[(j * 3) & 255] > 180)
      break;
    m++;
  }
  global const uchar *p;
  for (int k = 1;; k *= n) {
    p = in + ((k ^ l) & 255);
    if (*p > 200 || *p < 20)
      break;
  }
  t[l] = l;
  barrier(CLK_LOCAL_MEM_FENCE);
  o[0] = i;
  o[1] = j;
  o[2] = *p + t[items - 1 - l];
  barrier(CLK_LOCAL_MEM_FENCE);
  int r = 0, s = 0;
  while (r < n || in[(r * 7 + l) & 255] < 150) {
    s = r * r;
    r++;
    t[l] += s;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  vstore2((int2)(r, s), 0, o + 4);
  o[3] = t[(l + 1) % items];
}
