// Statements in wrong places, cases, formats, constants.
kernel void f(global int *out, int n, float x) {
  break;
  continue;
  case 1: ;
  default: ;
  switch (n) { case 1: case 1: case 5 ... 3: default: default: case n: break; case 2 ... 4: case 3: ; }
  switch (x) { case 1: ; }
  switch (n) { case 1.5f: continue; }
  n == 3;
  out[0] = n / 0;
  printf("%d %f\n", 1);
  printf("%d %d\n", 1.5f, (long)n);
  printf("%v4f %s\n", (float4)(1), "ok");
  printf("%v4hlf %ld %c\n", (float4)(1), 5l, 'x');
  printf("%*d", 1);
  printf("%q", 1);
  printf("%d", 1, 2);
  printf(out);
  printf("%s", out);
  printf("%v2hld", (int4)(1));
  int a[3] = {1, 2, 3, 4};
  int b[2] = {[2] = 1};
  int c[-1], d[1.5f];
  char e[2] = "abc";
  struct { int x; } s = {1, 2}, t = {.y = 1};
  int u[] = 3;
  int empty[];
  _Static_assert(sizeof(int) == 5, "int is small");
  _Static_assert(n, "n");
  goto out;
}
constant int from = size_of;
constant int table[2] = {1, get_global_id(0)};
constant int zero = 1 / 0;
enum { A = 1, B = A + 1, C = x };
void main_like(int, int b) {}
int variadic(int n, ...) { return n; }
kernel void long_long(global long *a) { printf("%lld %5llx ll%%ll\n", a[0], a[1]); }
