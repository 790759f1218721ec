// Loops along private arrays: nested, with a condition and a `continue` inside, descending, with a larger step, without
// iterations, through a pointer.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// arg: buffer int 128 = zero
// arg: buffer int 512 = random 7
// arg: value int 3

kernel void k(global int *out, global const int *in, int n) {
  size_t gid = get_global_id(0);
  int a[4], b[2][3], h = 0;
  float c[8];
  for (int i = 0; i < 4; i++)
    a[i] = in[gid * 4 + i];
  for (int i = 3; i >= 0; i--)
    if (a[i] & 1)
      a[i] += a[(i + 1) & 3];
    else
      h += a[i];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      b[i][j] = a[i + j] ^ (i * 7 + j);
  for (int i = 0, s = 1; i < 8; i += 3, s = -s)
    c[i] = s * (float)(a[i & 3] & 1023);
  for (int i = 0; i < 8; i += 3)
    h += (int)c[i];
  int last = 0;
  for (int i = 0; i < 3; i++) {
    if (b[0][i] % n == 0)
      continue;
    last = i;
    b[1][i] -= b[0][i];
  }
  for (int i = 5; i < 5; i++)
    a[i - 5] = 0;
  for (int i = 0; i < 4; i++) {
    if (a[i] % 5 == 0)
      break;
    h = h * 31 + a[i];
  }
  for (int i = 0; i < n; i++)
    h = h * 31 + b[1][i];
  int *p = a;
  for (int i = 0; i < 2; i++, p++)
    h = h * 31 + *p;
  out[gid] = h * 3 + last + a[gid & 3];
}
