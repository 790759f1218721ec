// Pointers: arithmetic, comparison, differences, casts, arrays of arrays, const and volatile, null.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct { int a; float b[3]; short c; } item;
int sum(const int *p, int n) { int s = 0; while (n--) s += *p++; return s; }
int sum_local(local const int *p, int n) { int s = 0; for (local const int *e = p + n; p != e; ++p) s += *p; return s; }
int sum2(int (*rows)[3], int n) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) s += rows[i][j]; return s; }
int sum3(int rows[][3], int n) { return sum2(rows, n); }
void set(int **to, int *value) { *to = value; }
global int *second(global int *p) { return p + 1; }
constant int table[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};

kernel void test(global int *out) {
  local int shared[8];
  int zero = out[get_global_id(0)] + 1;
  int lid = get_local_id(0);
  shared[lid] = lid + 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  int n = get_local_size(0);
  CHECK(sum_local(shared, n) == n * (n + 1) / 2);
  int a[6] = {1, 2, 3, 4, 5, 6};
  int *p = a, *q = &a[4];
  CHECK(q - p == 4 && p + 4 == q && 4 + p == q && q - 4 == p && p < q && q >= p && p != q && !(p > q) && p <= p);
  CHECK(*(p + 2) == 3 && p[2] == 3 && 2[p] == 3 && q[-1] == 4 && *(q - 3) == 2 && *&*p == 1 && &p[3] - &p[1] == 2);
  CHECK(*p++ == 1 && *p == 2 && *++p == 3 && ++*p == 4 && a[2] == 4 && (*p)++ == 4 && a[2] == 5 && *p-- == 5 && *--p == 1);
  p += 3; CHECK(*p == 4); p -= 2 + zero; CHECK(*p == 2);
  CHECK(sum(a, 6) == 23 && sum(a + 1, 2) == 7 && sum(&a[5], 1) == 6);
  int m[2][3] = {{1, 2, 3}, {4, 5, 6}};
  CHECK(sum2(m, 2) == 21 && sum3(m + 1, 1) == 15 && sum(m[1], 3) == 15 && *m[1] == 4 && *(*(m + 1) + 2) == 6 && (*m)[2] == 3);
  int (*row)[3] = m; row++;
  CHECK((*row)[0] == 4 && row[0][1] == 5 && row - m == 1 && (char *)row - (char *)m == 12 && sizeof(*row) == 12 && sizeof m == 24);
  int *last; set(&last, &m[1][2]);
  CHECK(*last == 6 && last - &m[0][0] == 5);
  int **pp = &last; **pp = 60; CHECK(m[1][2] == 60);
  int *many[3] = {&a[0], &a[2], 0};
  CHECK(*many[1] == 5 && many[2] == 0 && !many[2] && many[0] && (many[2] ? 0 : 1) && many[2] == (int *)0 && NULL == many[2]);
  CHECK(table[1][0][1] == 6 && *table[1][1] == 7 && (&table[0][1])[0][1] == 4 && sizeof(table[0]) == 16);
  item things[3]; item *t = things;
  for (int i = 0; i < 3; i++, t++) { t->a = i; (*t).b[1] = i * 0.5f; t->c = (short)-i; }
  CHECK(t - things == 3 && (t - 1)->c == -2 && things[2].b[1] == 1.0f && (&things[1])->a == 1 && (--t)->a == 2);
  short *c = &things[1].c; CHECK(*c == -1 && (ulong)c % 2 == 0);
  uchar *bytes = (uchar *)a; a[0] = 0x01020304;
  CHECK(bytes[0] == 4 && bytes[3] == 1 && *(uint *)bytes == 0x01020304u && *(ushort *)(bytes + 2) == 0x0102);
  bytes[1] = 0xff; CHECK(a[0] == 0x0102ff04);
  ulong address = (ulong)p; int *back = (int *)address; CHECK(back == p && *back == *p);
  CHECK((size_t)(p + 1) - (size_t)p == 4 && (int *)((char *)p + 4) == p + 1);
  float f = 1.0f; CHECK(*(int *)&f == 0x3f800000);
  float4 v = (float4)(1, 2, 3, 4); float *e = (float *)&v;
  e[zero + 2] = 9; CHECK(v.z == 9 && e[3] == 4); *(float2 *)(e + 2) = (float2)(7, 8); CHECK(v.w == 8 && v.z == 7);
  const int *k = a; k = &a[3]; CHECK(*k == 4);
  volatile int *vol = a; *vol = 3; *vol += 1; CHECK(a[0] == 4);
  int *const fixed = a; *fixed = 8; CHECK(a[0] == 8);
  void *any = a; CHECK(*(int *)any == 8 && any == a && (uchar *)any + 4 == (uchar *)(a + 1));
  int *chosen = zero ? a : &a[1]; CHECK(*chosen == 2 || *chosen == 5 || chosen == a + 1);
  global int *mine = &out[get_global_id(0)]; CHECK(mine - out == get_global_id(0) && second(mine) == mine + 1);
  local int *ls = shared; CHECK(ls[lid] == lid + 1 && &shared[lid] - ls == lid);
  for (int *it = a, *end = a + 6; it < end; it += 2) *it = 0;
  CHECK(a[0] == 0 && a[2] == 0 && a[4] == 0 && a[5] == 6);
  int x = 1, y = 2, z = (x++, y += x, x * y); CHECK(x == 2 && y == 4 && z == 8);
  p = a; *p++ = *p + 0; int i = 1; i = i++ + 0 * i; CHECK(p == a + 1);
  DONE;
}
