// Two pointers into one buffer, which overlap by a number that differs from work-item to work-item: stores through one
// are read through the other, in this iteration or a later one.
// run: global=32 local=32
// run: global=21 local=7
// run: global=30 local=15
// arg: buffer int 2048 = random 5
// arg: value int 20

kernel void k(global int *a, int n) {
  const int g = get_global_id(0);
  global int *row = a + g * 64;
  global int *to = row + g % 5;
  for (int i = 0; i < n; i++)
    to[i] = row[i] * 3 + i;
  int s = 0;
  for (int i = 0; i < n; i++) {
    row[i + 1] = s;
    s += to[i];
  }
  // The same address in every iteration, unless an iteration has written it.
  for (int i = 0; i < n; i++)
    row[i] += to[2];
  for (int i = 0; i < n; i += 2) {
    const int before = to[i];
    row[i] = before ^ i;
    to[i + 1] += to[i] - before;
  }
  global uchar *bytes = (global uchar *)(row + 30);
  global ushort *halves = (global ushort *)(row + 30) + g % 3;
  for (int i = 0; i < n; i++)
    halves[i] = bytes[i] * 5 + bytes[i + 1];
  a[g * 64 + 63] = s + vload4(0, to).y + row[n];
}
