// Neighbours' indices of eight and sixteen bits that are further apart than the type has values, or wrap once on the
// way.
// run: global=64 local=64
// run: global=37 local=9 offset=5
// run: global=300 local=100 offset=30000
// arg: buffer int 300 = zero
// arg: buffer int 65536 = iota

kernel void k(global int *out, global const int *in) {
  size_t id = get_global_id(0);
  uchar up = (uchar)(id * 64), down = (uchar)(7 - id * 40), one = (uchar)id;
  char mid = (char)(id * 32 + 100), back = (char)(100 - id);
  ushort far = (ushort)(id * 60);
  short near = (short)(id * 48);
  int sum = in[up] + 3 * in[down] + 5 * in[one] + 7 * in[far];
  sum += 11 * in[mid + 128] + 13 * in[back + 128] + 17 * in[near + 32768];
  out[id - get_global_offset(0)] = sum;
}
