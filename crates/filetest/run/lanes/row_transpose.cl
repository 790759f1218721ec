// Row transposes: each work-item reads its own row, several iterations at once, with any remainder at the end, up to
// the last byte.
// run: global=37 local=8 kernel=rows
// run: global=48 local=48 kernel=rows
// run: global=13 local=13 kernel=rows
// arg: buffer int 192 = zero
// arg: buffer int 1104 = random 7
// arg: value uint 23
// arg: value int 19

int unsigned_counter(global const int *in, uint columns, uint r) {
  int sum = 0;
  for (uint c = 0; c < columns; c++)
    sum = sum * 3 + in[(size_t)r * columns + c];
  return sum;
}

// Descending to a lower bound, by two columns in an iteration, and from a first column other than 0.
int signed_counter(global const int *in, int first, int columns, int r) {
  int sum = 0;
  for (int c = first; columns > c; c++)
    sum = sum * 5 ^ in[r * columns + c];
  for (int c = first; c < columns; c += 2)
    sum += in[r * columns + c] << (c & 3);
  return sum;
}

// An address as the loop counter, and a value from the previous iteration.
float pointer(global const int *in, uint columns, uint r) {
  global const int *p = in + r * columns;
  float sum = 0.0f, last = 1.0f;
  for (uint c = 0; c < columns; c++, p++) {
    sum += last * (*p & 255);
    last = (*p >> 8 & 15) + (float)c;
  }
  return sum;
}

// Stores in the loop may alias the loads: one iteration at a time.
int written(global const int *in, global int *out, uint columns, uint r) {
  int sum = 0;
  for (uint c = 0; c < columns; c++) {
    sum += in[r * columns + c];
    out[4 * r + 3] = sum;
  }
  return sum;
}

// Nothing is read beyond the last iteration: the last row ends with the buffer.
kernel void rows(global int *out, global const int *in, uint columns, int less) {
  uint r = get_global_id(0);
  out[4 * r] = unsigned_counter(in, columns, r);
  if (r % 3 != 1)
    out[4 * r + 1] = signed_counter(in, (int)columns - less, columns, r);
  out[4 * r + 2] = as_int(pointer(in, columns, r));
  if (r & 1)
    written(in, out, columns, r);
  // No iteration, one, and a counter that starts beyond its bound.
  out[4 * r + 3] += unsigned_counter(in, 0, r) + unsigned_counter(in, 1, r) + signed_counter(in, 5, 2, r);
}
