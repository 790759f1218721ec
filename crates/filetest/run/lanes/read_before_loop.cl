// Loop-invariant loads are hoisted, unless the loop does not run, writes there, or may exit before the load.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// run: global=50 local=17 offset=8
// arg: buffer int 256 = zero
// arg: buffer int 256 = random 7
// arg: buffer int 256 = random 9
// arg: value int 6
// arg: value int 0

struct record { int a, b, c; };

kernel void k(global int *out, global const int *in, global int *both, int n, int none) {
  size_t gid = get_global_id(0);
  global const struct record *own = (global const struct record *)in + gid;
  int h = 0;
  for (int j = 0; j < n; j++)
    h = h * 31 + (in[j * 3] ^ own->a) + (in[j * 3 + 1] ^ own->b) - own->c;
  // No iteration: the address is invalid.
  for (int j = 0; j < none; j++)
    h += in[1000000000 + gid * 1000000];
  // A trip count for each work-item, which is 0 for some.
  for (int j = 0; j < (int)(gid % 5); j++)
    h = h * 7 + in[gid + 60] + j;
  // The loop writes there, or leaves before.
  for (int j = 0; j < n; j++) {
    h += both[gid];
    both[gid] = h & 0xffff;
  }
  for (int j = 0; j < 100; j++) {
    if (h % 3 == j % 3 || gid > 30)
      break;
    h += in[gid > 30 ? 1000000000 : (int)gid];
  }
  int k = 0;
  do
    h = h * 3 + in[gid + 1];
  while (++k < n);
  out[gid] = h;
}
