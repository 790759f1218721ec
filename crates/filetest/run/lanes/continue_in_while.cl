// A divergent branch whose two arms both go to the header of a uniform loop: the argument of each edge is uniform, but
// they differ.
// run: global=13 local=13
// run: global=37 local=8 offset=4
// arg: buffer int 37 = zero
// arg: value int 5
// arg: value int 7
// expect: 0 int = 35 0 35 0 35 0 35 0 35 0 35 0 35

kernel void k(global int *out, int n, int step) {
  int id = (int)get_global_id(0);
  int i = 0, sum = 0;
  while (i < n) {
    i++;
    if (id & 1)
      continue;
    sum += step;
  }
  out[id - (int)get_global_offset(0)] = sum;
}
