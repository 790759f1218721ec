// Tail folding: guards that most kernels begin with, and what keeps vectors that are not full apart from full ones.
// Rows of groups that are no multiple of the lanes, whole vectors that the guard cuts, and vectors that both cut.
// run: global=37 local=37
// run: global=40x3 local=20x1
// run: global=64 local=64 offset=5
// run: global=48 local=12 offset=2
// arg: buffer int 4096 = random 3
// arg: buffer int 4096 = zero
// arg: value int 50
// arg: value uint 2
kernel void guarded(global const int *in, global int *out, int n, uint rows) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= n || y >= rows)
    return;
  int sum = in[x + 64 * y];
  // Lanes differ inside of the all-on version too.
  if (sum & 1)
    sum += in[x + 1];
  for (int i = 0; i < (sum & 7); i++)
    sum ^= in[x + i] << i;
  out[x + 64 * y] = sum;
}

// The uniform part of the guard comes first.
kernel void uniform_first(global const int *in, global int *out, int n, uint rows) {
  uint x = get_global_id(0), y = get_global_id(1);
  if (y >= rows)
    return;
  if (x < n && in[y] != 0)
    out[x + 64 * y] = in[x] + in[63 - (x & 63)];
}

// A comparison that is not strided, and two regions, of which the second one has all lanes.
kernel void two(global const int *in, global int *out, int n, uint rows) {
  int x = get_global_id(0), z = (x * 77) & 63;
  if (z < n)
    out[x] = in[z] / 3;
  if (x > rows)
    out[1024 + x] = in[x] * 5;
}

// Loads before the guard: full vectors keep code of their own.
kernel void not_folded(global const int *in, global int *out, int n, uint rows) {
  int x = get_global_id(0), value = in[x];
  if (value < n)
    return;
  out[x] = value + in[x + 1];
}
