// Both arms compute an address, and each may be passed by: then the sum in it wraps, and one of 64 bits is used.
// run: global=1 local=1
// arg: buffer int 16 = zero
// arg: buffer uchar 64 = random 5
// arg: value int 2147483647
// arg: value long -2147483631
// arg: value int 1
// arg: value int 1
// arg: value int 0
int f(global int *o, global const uchar *a, int i, long off, int c, int x, int y, int *r) {
  if (c) {
    if (x) return 1;
    o[2] = 7;
    *r = a[(long)(i + 1) + off];
  } else {
    if (y) return 1;
    o[3] = 9;
    *r = a[(long)(i + 1) + off] * 3;
  }
  return 0;
}
kernel void k(global int *o, global const uchar *a, int i, long off, int c, int x, int y) {
  int r;
  if (f(o, a, i, off, c, x, y, &r)) r = a[(long)i + off] + 1000;
  o[0] = r;
}
