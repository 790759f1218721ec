// Statements: loops, switch with fall-through and nesting, goto, break, continue, comma, short circuit.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

int collatz(int n) { int k = 0; while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; ++k; } return k; }
int duff(int n) {
  int k = 0, i = (n + 3) / 4;
  switch (n % 4) {
  case 0: do { k++;
  case 3:      k++;
  case 2:      k++;
  case 1:      k++;
          } while (--i > 0);
  }
  return k;
}
int sw(int x) {
  int r = 0;
  switch (x) {
  case 1: r += 1;
  case 2: r += 2; break;
  default: r += 100;
  case 5: { r += 5; break; }
  case 7: switch (r) { case 0: r = 70; break; default: r = 71; } break;
  case -3: return -3;
  }
  return r;
}
int jumps(int n) {
  int s = 0, i = 0;
again:
  if (i >= n) goto done;
  s += i++;
  if (s > 1000) goto done;
  goto again;
done:
  return s;
}
int into(int x) { int r = 1; if (x) goto in; { r = 10; in: r += 5; } return r; }
int bump(private int *p) { return ++*p; }
kernel void test(global int *out) {
  CHECK(collatz(27) == 111);
  CHECK(duff(1) == 1 && duff(7) == 7 && duff(8) == 8 && duff(10) == 10);
  CHECK(sw(1) == 3 && sw(2) == 2 && sw(3) == 105 && sw(5) == 5 && sw(7) == 70 && sw(-3) == -3);
  CHECK(jumps(5) == 10 && jumps(0) == 0 && jumps(1000) == 1035);
  CHECK(into(0) == 15 && into(1) == 6);
  int n = 0;
  for (int i = 0; i < 10; i++) { if (i == 3) continue; if (i == 7) break; n += i; }
  CHECK(n == 0 + 1 + 2 + 4 + 5 + 6);
  n = 0;
  for (int i = 0, j = 10; i < j; i++, j--) n += j - i;
  CHECK(n == 10 + 8 + 6 + 4 + 2);
  n = 0;
  do { n++; if (n == 2) continue; } while (n < 5);
  CHECK(n == 5);
  int c = 0;
  CHECK((0 && bump(&c)) == 0 && c == 0);
  CHECK((1 || bump(&c)) == 1 && c == 0);
  CHECK((1 && bump(&c)) == 1 && c == 1);
  CHECK((c = 5, c + 1) == 6);
  CHECK((c > 3 ? bump(&c) : 0) == 6 && c == 6);
  n = 0;
  for (;;) { for (;;) { if (++n > 10) break; else continue; } if (n > 20) break; }
  CHECK(n == 21);
  int shadow = 1;
  { int shadow = 2; CHECK(shadow == 2); { int shadow = 3; shadow++; CHECK(shadow == 4); } }
  CHECK(shadow == 1);
  n = 0;
  long big = 0x100000002l;
  switch (big) { case 2: n = 1; break; case 0x100000002l: n = 2; break; }
  CHECK(n == 2);
  switch (3) { }
  switch (3) { case 3: ; }
  n = 10;
  while (n --> 0) if (n == 4) break;
  CHECK(n == 4);
  DONE;
}
