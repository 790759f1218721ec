// goto, switch with fall-through, cases inside of loops, loops left and continued.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

int copies(int count, int *to) {
  // Cases inside of the loop that the switch jumps into.
  int n = (count + 3) / 4, done = 0;
  switch (count % 4) {
  case 0:
    do {
      to[done++] = 1;
  case 3: to[done++] = 3;
  case 2: to[done++] = 2;
  case 1: to[done++] = 1;
    } while (--n > 0);
  }
  return done;
}
int classify(int x) {
  int r = 0;
  switch (x) {
  default: r += 1000; break;
  case -1: r += 1;
  case 1:
  case 2: r += 10; break;
  case 3: { int y = x * 2; r += y; } break;
  case 'a': return 77;
  case 10 ... 19: r += 200;
  }
  return r;
}
int wide(ulong x) {
  switch (x) {
  case 0xffffffffffffffffUL: return 1;
  case 0x100000000UL: return 2;
  case 0: return 3;
  }
  return 4;
}
int narrow(uchar x) { switch (x) { case 255: return 1; case 0: return 2; } return 3; }
int collatz(int n) {
  int steps = 0;
again:
  if (n == 1) goto end;
  if (n & 1) goto odd;
  n /= 2;
  steps++;
  goto again;
odd:
  n = 3 * n + 1;
  steps++;
  goto again;
end:
  return steps;
}
int search(int want) {
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 10; j++) {
      if (i * 10 + j == want) goto found;
      if (j > i) goto next;
      continue;
    next:;
    }
  return -1;
found:
  return want;
}
int into(int where) {
  // Jumps into the middle of a loop.
  int sum = 0, i = where;
  if (where > 0) goto middle;
  for (i = 0; i < 5; i++) {
    sum += 10;
  middle:
    sum += i;
  }
  return sum;
}
int nested(int a, int b) {
  int r = 0;
  while (1) {
    switch (a) {
    case 0:
      switch (b) { case 0: r += 1; continue_here: case 1: r += 2; break; default: goto out_; }
      a = 1;
      continue;
    case 1: a = 2; break;
    case 2: goto out_;
    }
    r += 100;
  }
out_:
  return r;
}

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  int to[16];
  CHECK(copies(zero + 7, to) == 7 && to[0] == 3 && to[2] == 1 && to[3] == 1 && to[4] == 3);
  CHECK(copies(zero + 8, to) == 8 && copies(zero + 1, to) == 1 && to[0] == 1);
  CHECK(classify(zero - 1) == 11 && classify(zero + 1) == 10 && classify(zero + 2) == 10 && classify(zero + 3) == 6);
  CHECK(classify(zero + 4) == 1000 && classify(zero + 97) == 77 && classify(zero + 10) == 200 && classify(zero + 19) == 200);
  CHECK(classify(zero + 20) == 1000 && classify(INT_MIN) == 1000);
  CHECK(wide((ulong)zero - 1) == 1 && wide((ulong)zero + 0x100000000ul) == 2 && wide(zero) == 3 && wide(0xffffffffu) == 4);
  CHECK(narrow((uchar)(zero - 1)) == 1 && narrow((uchar)(zero + 256)) == 2 && narrow(7) == 3);
  CHECK(collatz(zero + 27) == 111 && collatz(zero + 1) == 0);
  CHECK(search(zero + 10) == 10 && search(zero + 37) == 37 && search(zero + 100) == -1);
  CHECK(into(zero) == 60 && into(zero + 3) == 17);
  CHECK(nested(zero, zero) == 103 && nested(zero, 1) == 102 && nested(zero, 9) == 0 && nested(2, zero) == 0);
  int count = 0;
  do { if (count == 3) continue; if (count > 5) break; } while (count++ < 10);
  CHECK(count == 6);
  for (;;) { if (++count > 9) break; }
  CHECK(count == 10);
  for (int i = 0, j = 10; i < j; i++, j--) count += i == 2 ? j : 0;
  CHECK(count == 18);
  while (count--) if (count < 5) { count = 50; break; } else continue;
  CHECK(count == 50);
  if (zero) ; else if (!zero) count = 1; else count = 2;
  CHECK(count == 1);
  switch (zero) { int hidden; case 0: hidden = 4; count += hidden; }
  CHECK(count == 5);
  switch (zero) { }
  switch (count++) case 5: count += 10;
  CHECK(count == 16);
  DONE;
}
