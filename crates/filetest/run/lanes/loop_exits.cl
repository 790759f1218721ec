// Loops that lanes leave in different iterations and by different exits: values that are uniform inside are varying
// outside.
// run: global=64 local=64
// run: global=37 local=9 offset=3
// arg: buffer int 640 = zero
// arg: buffer uchar 64 = random 3
// arg: value int 9

int nest(global const uchar *in, int id, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++) {
      if (in[(id + i * 4 + j) & 63] > 240)
        return i * 100 + j;
      if (in[(id + j) & 63] < 20)
        break;
    }
  return -1;
}

int find(global const uchar *in, int id, int n) {
  int i;
  for (i = 0; i < n; i++) {
    if (in[(id * 3 + i) & 63] > 200)
      return 1;
    if (in[(id + i) & 63] < 10)
      return 2;
  }
  return 3;
}

kernel void k(global int *out, global const uchar *in, int n) {
  int id = (int)get_global_id(0);
  global int *o = out + 10 * (id - (int)get_global_offset(0));
  // The counter after a break.
  int i = 0;
  for (; i < n; i++)
    if (in[(id + i) & 63] > 180)
      break;
  o[0] = i;
  // Out of two loops at once.
  int j = 0, last = 0;
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) {
      last = i * j;
      if (in[(id + i + 5 * j) & 63] > 230)
        goto both;
    }
both:
  o[1] = i * 1000 + j * 50 + last;
  o[2] = nest(in, id, n);
  o[3] = find(in, id, n);
  // No iteration for some.
  int sum = 0;
  for (int k = in[id & 63] & 3; k > 0; k--)
    sum += k * n;
  o[4] = sum;
  // Several targets.
  sum = 0;
  for (int k = 0; k < n; k++) {
    int x = in[(id + k) & 63];
    if (x & 1)
      continue;
    sum += x;
    if (x & 2)
      continue;
    sum -= k;
    if (x > 250)
      break;
    sum *= 3;
  }
  o[5] = sum;
  // A switch into a loop.
  int count = (in[id & 63] & 15) + 1, rounds = (count + 3) / 4;
  sum = 0;
  switch (count & 3) {
  case 0: do { sum += 1;
  case 3: sum += 10;
  case 2: sum += 100;
  case 1: sum += 1000;
      } while (--rounds > 0);
  }
  o[6] = sum;
  // Jumps between the arms of a branch.
  sum = in[id & 63];
  if (sum & 4) {
    sum += 3;
    if (sum & 1)
      goto other;
    sum *= 5;
  } else {
    sum -= 1;
  other:
    sum ^= 77;
  }
  o[7] = sum;
  // Two cases, one block; a uniform branch in a divergent one.
  switch (in[(id + 9) & 63] & 7) {
  case 1:
  case 5: sum += n > 4 ? 17 : id; break;
  case 2: sum += 2;
  case 3: if (n & 1) sum *= n; break;
  default: sum = -sum;
  }
  o[8] = sum;
  do {
    sum = sum * 5 + 1;
  } while ((sum & 63) != (id & 63) && ++i < 200);
  o[9] = sum;
}
