// Two work-items whose numbers are further apart than an int has positive numbers: neither overflows, their distance
// does.
// run: global=2 local=2
// run: global=64 local=64
// arg: buffer long 1024 = zero
// arg: value int 0x60000000
kernel void k(global long *out, int c) {
  int i = (int)get_global_id(0);
  if (i < 2) {
    int s = (i * 2 - 1) * 0x60000000;
    long j = s;
    out[i] = j;
  }
}
