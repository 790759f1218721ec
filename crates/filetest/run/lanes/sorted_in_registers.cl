// Loops along small private arrays whose trip count depends on the outer loop or is 0, or that have several exits:
// sorting, triangular solves.
// run: global=64 local=64
// run: global=45 local=15 offset=3
// arg: buffer int 2048 = random 7
// arg: buffer int 4096 = zero
// arg: value int 3

kernel void k(global const int *in, global int *out, int n) {
  int g = get_global_id(0), at = g * 32;
  int v[9], order[5], t[16];
  int count = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      v[count++] = in[g * 9 + (j + 1) * 3 + i + 1] & 255;
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 8 - i; j++)
      if (v[j] > v[j + 1]) {
        int x = v[j];
        v[j] = v[j + 1];
        v[j + 1] = x;
      }
  for (int i = 0; i < 9; i++)
    out[at + i] = v[i];
  // Chosen from what is left, with a way back before the end.
  for (int i = 0; i < 5; i++)
    order[i] = in[g * 5 + i] % 7 * 10 + i;
  for (int i = 0; i < 4; i++)
    for (int j = i + 1; j < 5; j++) {
      if (order[j] >= order[i])
        continue;
      int x = order[i];
      order[i] = order[j];
      order[j] = x + n;
    }
  for (int i = 0; i < 5; i++)
    out[at + 9 + i] = order[i];
  // The lower triangle of a matrix, solved for one; the first row has nothing before it.
  for (int i = 0; i < 16; i++)
    t[i] = (in[g + i] & 15) - 7;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < i; j++)
      t[i * 4 + 3] -= t[i * 4 + j] * t[j * 4 + 3];
    if (t[i * 4 + 3] < 0)
      t[i * 4 + 3] = -t[i * 4 + 3] / 2;
  }
  for (int i = 0; i < 16; i++)
    out[at + 14 + i] = t[i];
  // Down to nothing, and a loop that never runs.
  int sum = 0;
  for (int i = 4; i > 0; i--)
    for (int j = i; j > 1; j -= 2)
      sum = sum * 3 + v[j + i % 3];
  for (int i = 0; i < 0; i++)
    sum += v[i];
  out[at + 30] = sum;
}
