// Loop-invariant sums that overflow in work-items that a condition in the loop keeps from computing them: they are
// hoisted, and must not be taken for sums without overflow.
// run: global=64 local=64
// arg: buffer long 1024 = zero
// arg: buffer int 1024 = random 5
// arg: value int 0x7fffffff
// arg: value int 3
kernel void k(global long *out, global const int *in, int b, int n) {
  int i = (int)get_global_id(0);
  int t = (int)((uint)i + 0x7fffffffu);
  long sum = 0;
  for (int j = 0; j < n; j++) {
    if (i != 0 && (in[i + j] & 1)) {
      long x = (long)(t + b) + 1;
      sum += x * 3 + in[x + j];
    }
    sum = sum * 7 + in[i + j];
  }
  out[i] = sum;
}
