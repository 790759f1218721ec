// Private arrays: at uniform and other indices, of numbers and short vectors, read in two sizes, through a selected
// pointer, written by some of the work-items and in loops that they leave in different iterations.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// run: global=50 local=17 offset=8
// run: global=3 local=3
// arg: buffer int 1024 = zero
// arg: buffer int 1024 = random 7
// arg: value int 5

int last_of(const int *row, int n) { return row[n]; }

kernel void k(global int *out, global const int *in, int n) {
  int i = (int)get_global_id(0);
  int h = 0;

  // A row of a table, cell by cell; as many cells as the work-item has.
  int row[17];
  int width = 3 + (i * 7 & 13);
  for (int j = 0; j <= width; j++)
    row[j] = in[i + j];
  for (int r = 0; r < n; r++) {
    int diagonal = row[0];
    row[0] = in[16 * r + i];
    for (int j = 1; j <= width; j++) {
      int up = row[j];
      row[j] = max(max(up, row[j - 1]), diagonal + (in[j] & 3));
      diagonal = up;
    }
    h = h * 31 + row[width] + row[i % (width + 1)] + last_of(row, r & 3);
  }

  // Some work-items write, at one index or at their own.
  uchar seen[32];
  for (int j = 0; j < 32; j++)
    seen[j] = (uchar)(j * n);
  if (in[i] & 1)
    seen[n] = 7;
  if (in[i] & 2)
    seen[i & 31] ^= 9;
  else
    seen[31 - (i & 31)] += 3;
  for (int j = 0; j < 32; j++)
    h = h * 31 + seen[j];

  // Short vectors; components of their own are of another size.
  float4 points[6];
  int3 triples[5];
  for (int j = 0; j < 5; j++) {
    points[j] = (float4)(j, i, n, j + i);
    triples[j] = (int3)(i, j, n);
  }
  points[i % 5].y = 100.0f;
  points[5] = points[n - 2] + points[i % 3];
  h = h * 31 + (int)points[5].y + (int)points[n].w + triples[i % 5].y + triples[n - 1].x;

  // Two sizes.
  ulong words[4];
  for (int j = 0; j < 4; j++)
    words[j] = 0x0102030405060708ul * (ulong)(i + j);
  uchar *bytes = (uchar *)words;
  bytes[n] = 77;
  h = h * 31 + (int)words[n & 3] + bytes[i & 31];

  // One of two, and one that begins as zero.
  int a[8] = {0}, b[8];
  for (int j = 0; j < 8; j++)
    b[j] = in[i * 8 + j];
  a[n] = i;
  a[i & 7] += 5;
  int *which = in[i] & 4 ? a : b;
  h = h * 31 + which[n & 7] + a[3];
  double d[3] = {1.0, 2.0, 3.0};
  d[i % 3] += (double)i;
  out[i] = h + (int)(d[0] * 3.0 + d[n % 3] * 5.0);
}
