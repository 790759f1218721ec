// As in hoisted_out_of_conditions.cl, with a select of two such sums.
// run: global=64 local=64
// arg: buffer long 1024 = zero
// arg: buffer int 1024 = random 5
// arg: value int 0x80000004
// arg: value int 0x80000004
// arg: value int 1
// arg: value int 3
kernel void k(global long *out, global const int *in, int b, int c, int u, int n) {
  int i = (int)get_global_id(0) - 8;
  long sum = 0;
  for (int j = 0; j < n; j++) {
    if (i >= -4 && (in[i + j + 8] & 1)) {
      int x = select(i + b, i + c, u);
      long X = (long)x - b + 8;
      sum += in[X + j];
    }
    sum = sum * 7 + in[i + j + 8];
  }
  out[i + 8] = sum;
}
