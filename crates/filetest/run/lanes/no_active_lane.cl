// Code that is control-dependent on a branch that no lane takes must not run: invalid loads, endless loops, divisions.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// arg: buffer int 64 = zero
// arg: buffer int 8 = 3 1 4 1 5 9 2 6
// arg: value int 0
// arg: value int 1000000000

kernel void k(global int *out, global const int *in, int zero, int far) {
  int id = (int)get_global_id(0), at = id - (int)get_global_offset(0);
  int r = 0;
  // All lanes would read the same, if there were one.
  if (id < 0)
    r += in[far];
  if ((id & 1) > far)
    for (int i = 0; i < in[far]; i++)
      r += i;
  // Some lanes would read too far.
  if (id < 8 && in[id] > 2)
    r += in[id] * 10;
  for (int i = id; i < 8 && in[i] != 9; i++)
    r++;
  int d = (id & 3) ? (id & 3) : zero;
  if (d)
    r += 100 / d + 100 % d;
  r += d ? (-2147483647 - 1) / (d == 1 ? -3 : d) : 7;
  if ((id & 7) == 3) {
    // All active lanes agree.
    if (id != far)
      r ^= 0x55;
    else
      r = in[far];
  }
  while (id > far && in[far])
    r++;
  out[at] = r;
}
