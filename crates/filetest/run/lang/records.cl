// Structures and unions: nesting, padding, packing, alignment, designated initialisers, copies, arrays of them.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct { char c; struct { short s; union { int i; float f; uchar b[4]; }; } in; double d; } nest;
struct __attribute__((packed)) packed_all { char a; long b; short c; float3 d; };
struct packed_one { char a; int b __attribute__((packed)); char c; };
struct __attribute__((packed, aligned(4))) packed_aligned { char a; short b; char c[4]; };
typedef struct __attribute__((aligned(32))) { int x; } wide;
struct holds_wide { char c; wide w; char d; };
typedef int aligned_int __attribute__((aligned(16)));
struct with_typedef { char c; aligned_int i; };
typedef struct { float3 a; float b; } after3;
typedef struct { float3 v[2]; char4 c; } array3;
typedef union { struct { uchar r, g, b, a; }; uint all; uchar4 v; } colour;
typedef struct node { int value; int next; } node;
struct matrix { float m[3][4]; int rows, cols; };
struct list { int n; node items[5]; };

struct matrix transposed(struct matrix a) {
  struct matrix r = {.rows = a.cols, .cols = a.rows};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r.m[i][j] = a.m[j][i];
  return r;
}
int sum(struct list l) {
  int total = 0;
  for (int at = 0, k = 0; at >= 0 && k < l.n; k++, at = l.items[at].next) total += l.items[at].value;
  l.n = -1;
  return total;
}
void fill(struct list *l, int base) {
  l->n = 5;
  for (int k = 0; k < 5; k++) l->items[k] = (node){base + k, k < 4 ? k + 1 : -1};
}
node make(int v) { return (node){.next = v + 1, .value = v}; }

constant struct list fixed = {3, {[1] = {.value = 7, 2}, {8, -1}, [0] = {6, 1}}};

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  CHECK(sizeof(nest) == 24 && __alignof__(nest) == 8);
  CHECK(sizeof(struct packed_all) == 27 && __alignof__(struct packed_all) == 1);
  CHECK(sizeof(struct packed_one) == 6 && sizeof(struct packed_aligned) == 8 && __alignof__(struct packed_aligned) == 4);
  CHECK(sizeof(wide) == 32 && sizeof(struct holds_wide) == 96 && __alignof__(struct holds_wide) == 32);
  CHECK(sizeof(struct with_typedef) == 32 && sizeof(after3) == 32 && sizeof(array3) == 48 && sizeof(colour) == 4);
  CHECK(__alignof__(float3) == 16 && __alignof__(char) == 1 && __alignof__(double8) == 64 && __alignof__(int[3]) == 4);
  CHECK(sizeof(struct { int a[0 + 3]; }) == 12 && sizeof(((struct list *)0)->items) == 40);

  nest n = {1, {2, {.f = 1.0f}}, 3.0};
  CHECK(n.c == 1 && n.in.s == 2 && n.in.i == 0x3f800000 && n.in.b[3] == 0x3f && n.d == 3.0);
  n.in.b[0] = (uchar)(zero + 1);
  CHECK(n.in.i == 0x3f800001);

  struct packed_all p;
  p.a = 1; p.b = 0x0102030405060708l + zero; p.c = 3; p.d = (float3)(1, 2, 3);
  char *bytes = (char *)&p;
  CHECK(bytes[1] == 8 && bytes[8] == 1 && bytes[9] == 3 && p.d.z == 3.0f && p.b == 0x0102030405060708l);
  p.d.y += 1; p.c <<= 2;
  CHECK(p.d.y == 3.0f && p.c == 12 && p.a == 1);
  struct packed_all q = p;
  CHECK(q.b == p.b && q.d.x == 1.0f && q.c == 12);

  struct holds_wide h = {.d = 5, .w = {9}};
  CHECK(h.c == 0 && h.w.x == 9 && h.d == 5 && ((ulong)&h.w & 31) == 0);

  colour col;
  col.all = 0x11223344u + zero;
  CHECK(col.r == 0x44 && col.a == 0x11 && col.v.y == 0x33);
  col.v.z = 0xff;
  CHECK(col.b == 0xff && col.all == 0x11ff3344u);

  struct matrix m = {{{1, 2, 3}, {4, 5, 6}, {7, 8, [3] = 9}}, 3, 3};
  m.m[0][zero + 1] += 10;
  struct matrix t = transposed(m);
  CHECK(t.m[1][0] == 12.0f && t.m[2][1] == 6.0f && m.m[2][2] == 0.0f && m.m[2][3] == 9.0f && t.rows == 3);
  t = transposed(t);
  CHECK(t.m[0][1] == 12.0f);

  struct list l;
  fill(&l, 10 + zero);
  CHECK(sum(l) == 60 && l.n == 5);
  l.items[2].next = -1;
  CHECK(sum(l) == 33);
  struct list copy = l, *where = &copy;
  where->items[zero].value = 100;
  CHECK(l.items[0].value == 10 && copy.items[0].value == 100 && (*where).items[1].value == 11);
  CHECK(sum(fixed) == 21 && fixed.items[3].value == 0 && fixed.items[zero + 2].value == 8);
  l = fixed;
  CHECK(l.items[1].value == 7 && sum(l) == 21);
  CHECK(make(zero + 4).value == 4 && make(4).next == 5);
  l.items[1] = zero ? make(1) : make(2);
  CHECK(l.items[1].value == 2);
  node many[3] = {[2] = make(3), [0].value = 1};
  CHECK(many[0].value == 1 && many[0].next == 0 && many[1].value == 0 && many[2].next == 4);
  int grid[2][3] = {1, 2, 3, 4};
  CHECK(grid[0][2] == 3 && grid[1][0] == 4 && grid[1][2] == 0);
  int partial[8] = {[2] = 5, 6, [7] = 1};
  CHECK(partial[0] == 0 && partial[3] == 6 && partial[7] == 1 && partial[6] == 0);
  float2 pts[] = {(float2)(1, 2), (float2)(3), {5, 6}};
  CHECK(sizeof(pts) == 24 && pts[1].y == 3.0f && pts[2].y == 6.0f);
  after3 a3 = {(float3)(1, 2, 3), 4};
  a3.a.z = 9;
  CHECK(a3.b == 4.0f && a3.a.z == 9.0f);
  // A name in a block hides the one outside; tags have names of their own.
  { struct node { char only; } inner = {3}; CHECK(sizeof(struct node) == 1 && inner.only == 3); }
  CHECK(sizeof(struct node) == 8);
  enum { A = -1, B, C = B + 5, D = sizeof(nest) } e = C;
  CHECK(e == 5 && D == 24 && A == -1);
  DONE;
}
