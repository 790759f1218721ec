// An address in a loop, which no iteration computes as its product would wrap, is hoisted out of it; the one behind the
// loop is a constant apart from it as long as nothing wraps.
// run: global=4 local=4
// arg: buffer uchar 4096 = random 5
// arg: value ulong 3000000000
// arg: value int 1
// arg: value int 1000000
// arg: buffer uint 16 = zero
kernel void k(global const uchar *buf, ulong off, int n, int w, global uint *out) {
  global const uchar *a = buf - off;
  uint r = 0;
  int fits = n == 0;
  for (int j = 0; j < 4; j++) {
    if (fits) r = r * 3 + a[w * 3000];
    out[4 * get_global_id(0) + j] = r;
  }
  r += a[(long)w * 3000 + 2];
  out[4 * get_global_id(0)] = r;
}
