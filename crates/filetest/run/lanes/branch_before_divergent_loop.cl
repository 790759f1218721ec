// The arms of a divergent branch join at the header of a divergent loop, and both are control-dependent on a uniform
// branch.
// run: global=13 local=13
// run: global=37 local=8 offset=4
// arg: buffer int 37 = zero
// arg: buffer int 64 = iota
// arg: value int 3

kernel void k(global int *out, global const int *in, int n) {
  int id = (int)get_global_id(0);
  int x = id;
  if (n > 2) {
    if (in[id % 5] > 1)
      out[id - (int)get_global_offset(0)] = x * 3;
    int i = 0;
    do {
      x += in[i] * n;
    } while (++i < 3 && in[(id + i) % 7] < 4);
  }
  out[id - (int)get_global_offset(0)] += x;
}
