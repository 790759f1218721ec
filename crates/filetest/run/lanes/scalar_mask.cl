// Scalar mask tests: loops in which all lanes are active for some iterations, as a scalar comparison shows: ascending
// and descending, to bounds that are near the wrap, with strides between lanes, with other branches and loops inside,
// with bounds that no lane is below; and branches of the same kind.
// run: global=37 local=9 offset=3
// run: global=64 local=64
// arg: buffer int 4096 = random 3
// arg: buffer int 2048 = zero
// arg: value int 300
// arg: value uint 4294967290
// arg: value int -2147483640
// arg: value int 2147483640
kernel void k(global const int *in, global int *out, int n, uint high, int low, int top) {
  int i = get_global_id(0);
  uint g = get_global_id(0), all = get_global_size(0);
  int a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, h = 0, q = 0;
  for (uint k = g; k < n; k += all)
    a += in[k];
  for (int k = n - i; k > 0; k -= 7)
    b = b * 3 + in[k];
  for (int k = 3 * i; k <= n; k += 50) {
    if (in[k] & 1)
      c += in[k + 1];
    for (int j = i; j < 80; j += 20)
      c ^= in[j] + k;
    if (c % 5 == 0)
      continue;
    c -= in[k & 15];
  }
  // Some lanes wrap, others are done.
  int rounds = 0;
  for (uint k = high - 30 + g; k >= high && rounds < 5; k += 2)
    rounds++;
  for (uint k = high - 40 + g; k < high; k += 11) {
    d += in[k & 4095];
    if (++rounds > 20)
      break;
  }
  for (int k = low + i; k < low + 40; k += 3)
    e += in[k & 1023];
  for (int k = low + 64 - i; k > low && e < 1000000; k -= 5)
    e++;
  for (int k = top - 90 + i; k < top; k += 13) {
    f += k;
    if (f > 1 << 28)
      f = -f;
    if (k > top - 20)
      break;
  }
  for (int k = i; k < low; k++)
    h = 77;
  for (ulong k = get_global_id(0); k < (ulong)n * 2; k += 64) {
    out[1024 + get_global_id(0)] = in[k] + h;
    h += k;
  }
  if (i < 20)
    q = in[i] * 2;
  if (n - 270 > i)
    q += in[i + 5];
  if ((uint)i - 5 < 30u)
    q ^= in[i + 6];
  if (!(i * 2 >= 60))
    out[1536 + i] = q;
  out[8 * i + 0] = a;
  out[8 * i + 1] = b;
  out[8 * i + 2] = c;
  out[8 * i + 3] = d + rounds;
  out[8 * i + 4] = e;
  out[8 * i + 5] = f;
  out[8 * i + 6] = h;
  out[8 * i + 7] = q;
}
