// Loop-carried store-to-load forwarding: private elements that one iteration stores and the next one loads, at the next
// lower, the next higher and further indices, and cases that only look so.
// run: global=64 local=64
// run: global=37 local=9
// run: global=3 local=3
// arg: buffer int 1024 = zero
// arg: buffer int 1024 = random 7
// arg: value int 5
// arg: value int 11

kernel void k(global int *out, global const int *in, int n, int m) {
  int i = (int)get_global_id(0);
  int h = 0;
  int row[32], other[32];
  for (int j = 0; j < 32; j++) {
    row[j] = in[(i * 32 + j) & 1023];
    other[j] = j * 3;
  }
  int width = 3 + (i * 7 & 13);

  // Descending, in loops that work-items leave in the same iteration, or not, or never enter.
  for (int j = 1; j <= width; j++)
    row[j] = max(row[j], row[j - 1]) + j;
  for (int j = 1; j < m; j++)
    row[j] ^= row[j - 1] << (i & 3);
  for (int j = 1; j < width - 9; j++)
    row[j] += row[j - 1];
  // To the right, downwards.
  for (int j = 30; j >= n; j--)
    row[j] = row[j] * 3 + row[j + 1];
  // By two; the loaded element was stored one iteration ago, not two.
  for (int j = 2; j < 30; j += 2)
    row[j] += row[j - 2] ^ row[j - 1];
  // It is moved on as it is, and twice.
  for (int j = 1; j < m; j++)
    other[j] = other[j - 1];
  for (int j = 1; j < 20; j++) {
    other[j + 4] = row[j - 1];
    row[j] = other[j + 3] + 1;
  }
  for (int r = 0; r < 7; r++)
    h = h * 31 + row[r * 4] + other[r * 4 + 1];

  // Two stores: the second one may be what is read.
  for (int j = 1; j < 20; j++) {
    row[j] = row[j - 1] + in[j];
    row[(j + i) & 31] = j;
  }
  // Stored under a condition only.
  for (int j = 1; j < 31; j++)
    if (in[i + j] & 1)
      row[j] = row[j - 1] + 5;
  // From an unknown index; the first element may be out of bounds if the loop does not run.
  for (int j = n - 4; j < m; j++)
    row[j] += row[j - 1];
  for (int j = n - 100; j < n - 200; j++)
    row[j] += row[j - 1];
  // The load follows the store, and the last values are used after the loop.
  int last = 0;
  for (int j = 1; j < 25; j++) {
    row[j] = in[j + i] - last;
    last = row[j - 1];
  }
  // Elements that overlap.
  uchar bytes[40];
  for (int j = 0; j < 40; j++)
    bytes[j] = (uchar)(j * 7 + i);
  for (int j = 1; j < 30; j++)
    vstore2(vload2(0, bytes + j - 1) + (uchar2)(1, 3), 0, bytes + j);
  for (int j = 0; j < 40; j++)
    h = h * 7 + bytes[j];
  for (int j = 0; j < 32; j++)
    h = h * 31 + row[j] + other[j];
  out[i] = h + last;
}
