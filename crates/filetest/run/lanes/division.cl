// Division by one number for all work-items: a power of two, another one, zero and the lowest, which give what they
// give.
// run: global=37 local=8 kernel=k
// run: global=16 local=16 kernel=k
// arg: buffer int 592 = zero
// arg: buffer int 37 = random 3
// arg: value int 8
// arg: value int 1
// arg: value int 7
// arg: value int -4
// arg: value int 0x80000000
kernel void k(global int *out, global const int *in, int a, int b, int c, int d, int e) {
  int i = get_global_id(0);
  int x = in[i];
  int list[5] = { a, b, c, d, e };
  global int *o = out + 16 * i;
  for (int j = 0; j < 5; j++) {
    int y = list[j];
    if (y != -1) {
      o[j] = x / y + 3 * (x % y);
      o[5 + j] = (uint)x / (uint)y + 5 * ((uint)x % (uint)y);
      long z = (long)x << (x & 31);
      o[10 + j] = (int)(z / y + z % y) ^ (uchar)((uchar)x % (uchar)(y | 1));
    }
  }
}
