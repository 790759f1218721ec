// Indices that would wrap in work-items that do not compute them: those are the first ones of their vectors, from which
// the others' addresses follow. In loops with a loop-carried index, and with an index selected from two; signed and
// unsigned.
// run: global=64 local=64
// run: global=40 local=20
// run: global=45 local=9 offset=0
// arg: buffer int 64 = zero
// arg: buffer int 1024 = random 7
// arg: value int 5
// arg: value int 1

kernel void k(global int *out, global const int *in, int rounds, int one) {
  const int g = get_global_id(0), l = get_local_id(0);
  int h = 0;
  if (l >= 2) {
    // The first two would be above 2^31 - 1.
    int i = 0x7fffffff - (l - 2) * 3;
    for (int k = 0; k < rounds + l % 3; k++, i--)
      h = h * 31 + in[(long)i - 0x7ffffd00L];
    int j = one ? 0x7fffffff - (l - 2) * 5 : 0x7ffffff0 - (l - 2) * 5;
    h = h * 31 + in[(long)j - 0x7ffffd00L];
    uint u = (uint)(l - 2);
    for (int k = 0; k < rounds + l % 2; k++, u++)
      h = h * 31 + in[(ulong)u];
    for (int k = 0; k < rounds; k++) {
      int a = 0x7fffffff - (l - 2) * 2 - k, b = a - 1, c = b - one, d = c - one, e = d - one;
      h = h * 31 + in[(long)e - 0x7ffffd00L];
    }
  }
  out[g] = h;
}
