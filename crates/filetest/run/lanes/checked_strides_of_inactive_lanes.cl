// Runtime-checked strides of indices with sums that overflow in the first work-item, which does not compute them.
// run: global=64 local=64
// arg: buffer int 1024 = zero
// arg: buffer int 1024 = random 5
// arg: value int 0x7fffffff
// arg: value uint 0xf0000000
kernel void k(global int *out, global const int *in, int b, uint top) {
  uint l = get_local_id(0);
  if (l != 0 && (in[l] & 1)) {
    int t = (int)min(l + 0x7fffffffu, top);   // lane 0, off: 2^31 - 1; others: below zero
    out[l] = in[(long)(t + b) + 1];           // t + b overflows in lane 0 only
  }
}
