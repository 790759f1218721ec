// Two addresses are a constant apart if a product of 32 bits does not wrap, which holds behind the guard of one of them
// only; the other one is computed in 64 bits, and is used where the product wraps.
// run: global=1 local=1
// arg: buffer uchar 4096 = random 5
// arg: value ulong 3000000000
// arg: value int 60000
// arg: value int 1
// arg: buffer uint 4 = zero
kernel void k(global const uchar *buf, ulong off, int w, int is_big, global uint *out) {
  global const uchar *a = buf - off;
  int i = get_global_id(0) + 50000;
  uint r;
  if (!is_big) r = a[i * w + 1] + 1000;
  else r = a[(long)i * w];
  out[get_global_id(0)] = r;
}
