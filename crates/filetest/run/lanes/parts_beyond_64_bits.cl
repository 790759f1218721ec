// Offsets of which parts are beyond 64 bits.
// run: global=64 local=64
// arg: buffer int 1024 = zero
// arg: buffer int 1024 = random 5
// arg: value ulong 0
kernel void k(global int *out, global const int *in, ulong z) {
  size_t g = get_global_id(0);
  ulong s = g << 61, t = (((ulong)in[g] & z) + g * 7) << 61;
  int h = 0;
  for (int j = 0; j < 5; j++) h = h * 3 + in[(s + t) + g + j];
  out[g] = h;
}
