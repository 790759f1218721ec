// Row transposes of bytes and shorts, with loops that work-items leave in different iterations: several iterations at
// once as long as all remaining work-items have as many left. The last row ends with the buffer.
// run: global=37 local=8 kernel=walks
// run: global=48 local=48 kernel=walks
// run: global=5 local=5 kernel=walks
// run: global=37 local=37 kernel=tiles
// run: global=50 local=7 kernel=tiles
// arg: buffer int 256 = zero
// arg: buffer uchar 1104 = random 7
// arg: buffer ushort 1104 = random 9
// arg: value int 19

// As many as the work-item has, up to and with the last one.
int inclusive(global const uchar *a, int first, int last) {
  int sum = 0;
  for (int j = first; j <= last; j++)
    sum = sum * 7 + a[j];
  return sum;
}

// Descending to a lower bound, by two in an iteration, with an unsigned counter.
int by_two(global const ushort *b, uint first, uint count) {
  int sum = 0;
  for (uint j = 0; count > j; j += 2)
    sum = sum * 5 ^ b[first + j];
  return sum;
}

// An iteration depends on a value from the previous one, and signs matter.
int two_streams(global const char *a, global const short *b, size_t first, int count) {
  int sum = 0, last = 3;
  for (int j = 0; j < count; j++) {
    sum += last * a[first + j];
    last = b[first + j] >> 3;
  }
  return sum ^ last;
}

// Stores may alias the loads: one iteration at a time.
int written(global uchar *a, int first, int count) {
  int sum = 0;
  for (int j = 0; j < count; j++) {
    sum += a[first + j];
    a[first + j + 2] = (uchar)sum;
  }
  return sum;
}

// Both the row and the target of its elements are private.
int own(global const uchar *a, int first, int count) {
  uchar row[32];
  for (int j = 0; j < 32; j++)
    row[j] = (uchar)(j * 3);
  for (int j = 0; j < count; j++)
    row[j + 3] = row[(j * 5 + first) & 31] + a[first + j];
  int sum = 0;
  for (int j = 0; j < 32; j++)
    sum = sum * 3 + row[j];
  return sum;
}

// A local copy, and a way out in the middle.
int until(global const uchar *a, int first, int count, int stop) {
  int sum = 0;
  for (int j = 0; j < count; j++) {
    int x = a[first + j];
    if ((x & 15) == stop)
      break;
    sum += x * j;
  }
  return sum;
}

// Conditions of two and of three parts, which branches skip in both senses.
int words(global const uchar *a, int first, int count, int limit) {
  int words = 0, others = 0;
  uchar before = ' ';
  for (int j = first; j < first + count; j++) {
    const uchar c = a[j];
    if (c > 'A' && before <= 'A')
      words++;
    if (c == 'B' || before > 200 || !(j + limit < 90))
      others += c;
    before = c;
  }
  return words * 1000 + others;
}

kernel void walks(global int *out, global uchar *a, global const ushort *b, int less) {
  int i = (int)get_global_id(0), row = i * 23;
  int count = i * 7 % 24;
  int h = inclusive(a, row, row + count - 1);
  h = h * 31 + inclusive(a, row, row + 22 - (less & 3));
  h = h * 31 + by_two(b, (uint)row, (uint)count);
  h = h * 31 + two_streams((global const char *)a, (global const short *)b, row, count);
  if (i % 3 != 1)
    h = h * 31 + inclusive(a, row + (i & 3), row + count);
  h = h * 31 + own(a, row, count);
  h = h * 31 + until(a, row, count, i & 15);
  h = h * 31 + words(a, row, count, less);
  // No iteration, and a counter that begins beyond its bound.
  h += inclusive(a, row, row - 1) + inclusive(a, 9, -5) + by_two(b, (uint)row, 0);
  out[i] = h;
  // Rows of 23 do not meet where 19 are written, but the last one ends with the buffer.
  if (i % 4 == 2)
    out[i] += written(a, row, 3 + (i & 15));
}

// Tiles of a table, row after row in a private array.
kernel void tiles(global int *out, global const uchar *a, global const ushort *b, int less) {
  int i = (int)get_global_id(0);
  int row[18];
  int width = min(17, 22 - (i * 5 & 15));
  for (int j = 0; j <= 17; j++)
    row[j] = j <= width ? b[i * 22 + j] & 31 : -1;
  for (int r = 0; r < less; r++) {
    const uchar symbol = a[i * 20 + r] & 7;
    int diagonal = row[0];
    row[0] = r;
    for (int j = 1; j <= width; j++) {
      const int up = row[j];
      row[j] = max(max(up, row[j - 1]), diagonal + (symbol == (a[1098 - i * 22 - 18 + j] & 7)));
      diagonal = up;
    }
  }
  int h = 0;
  for (int j = 0; j <= 17; j++)
    h = h * 31 + row[j];
  out[i] = h;
}
