// Offsets that are multiples of 2^61 elements, all but the first beyond 64 bits.
// run: global=64 local=64
// arg: buffer int 1024 = zero
// arg: buffer int 1024 = random 5
kernel void k(global int *out, global const int *in) {
  size_t g = get_global_id(0);
  int h = 0;
  if (g < 1) for (int j = 0; j < 5; j++) h = h * 3 + in[(g << 61) + j];
  out[g] = h;
}
