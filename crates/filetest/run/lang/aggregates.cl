// Structures, unions, arrays: initial values with designators and elided braces, copies, temporaries, nesting.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct { int x, y; } point;
typedef struct { point a, b; float3 n; char tag; } edge;
typedef struct { union { int i; float f; uchar b[4]; }; int kind; } variant;
struct list { int n; point p[3]; };
constant edge edges[2] = {{{1, 2}, {3, 4}, (float3)(1, 2, 3), 'a'}, {.b = {.y = 9}, .tag = 7}};
constant struct list lists[] = {{2, {{1, 2}, {3, 4}}}, {3, 5, 6, 7, 8, 9, 10}};
constant float4 rows[2] = {4, (float4)(5), };
constant struct { constant char *name; int (value); } table[] = {{"one", 1}, {"three", 3}, {0, 0}};
point add(point a, point b) { point r = {a.x + b.x, a.y + b.y}; return r; }
point pick(int c, point a, global int *unused, point b) { return c ? a : b; }
float3 normal(edge e) { e.n.x += 1; return e.n; }
int counter(private int *n) { return (*n)++; }
kernel void test(global int *out) {
  CHECK(edges[0].b.x == 3 && edges[0].n.z == 3 && edges[0].tag == 'a');
  CHECK(edges[1].a.x == 0 && edges[1].b.x == 0 && edges[1].b.y == 9 && edges[1].tag == 7 && edges[1].n.x == 0);
  CHECK(lists[0].p[1].y == 4 && lists[0].p[2].x == 0 && lists[1].p[0].x == 5 && lists[1].p[2].y == 10);
  CHECK(sizeof lists / sizeof *lists == 2);
  CHECK(rows[0].x == 4 && rows[0].w == 4 && rows[1].x == 5 && rows[1].w == 5);
  CHECK(table[1].name[2] == 'r' && table[2].name == 0 && table[1].value == 3);
  edge e = edges[0];
  e.a.x = 100;
  CHECK(e.a.x == 100 && edges[0].a.x == 1 && normal(e).x == 2 && e.n.x == 1);
  e.a = e.b;
  CHECK(e.a.y == 4 && (e.b = (point){7, 8}).y == 8 && e.b.x == 7);
  CHECK(add((point){1, 2}, add(e.b, e.a)).y == 14);
  CHECK(pick(1, e.a, out, e.b).x == 3 && pick(0, e.a, out, e.b).x == 7);
  point q = e.a.x > 2 ? e.a : (point){0, 0};
  CHECK(q.x == 3 && (q, e.b).y == 8);
  variant v = {.f = 1.0f, .kind = 1};
  CHECK(v.i == 0x3f800000 && v.b[3] == 0x3f && v.b[2] == 0x80);
  v.b[3] = 0xbf;
  CHECK(v.f == -1.0f && sizeof(variant) == 8);
  int m[2][3][2] = {{{1, 2}, {3}}, {[1] = {4, 5}, {6}}};
  CHECK(m[0][0][1] == 2 && m[0][1][0] == 3 && m[0][1][1] == 0 && m[1][0][0] == 0 && m[1][1][1] == 5 && m[1][2][0] == 6);
  int flat[2][2] = {1, 2, 3};
  CHECK(flat[0][1] == 2 && flat[1][0] == 3 && flat[1][1] == 0);
  int sparse[] = {[3] = 1, 2, [1] = 5};
  CHECK(sizeof sparse == 20 && sparse[0] == 0 && sparse[1] == 5 && sparse[3] == 1 && sparse[4] == 2);
  char word[8] = "abc", exact[3] = "xyz", open[] = {"hi"};
  CHECK(word[2] == 'c' && word[3] == 0 && word[7] == 0 && exact[2] == 'z' && sizeof open == 3);
  int n = 0, a[4] = {0};
  a[counter(&n)] += 5;
  a[counter(&n)]++;
  a[counter(&n)] = n;
  CHECK(n == 3 && a[0] == 5 && a[1] == 1 && (a[2] == 2 || a[2] == 3));
  point ps[2] = {{1, 2}, {3, 4}}, *pp = ps;
  CHECK(pp++->y == 2 && pp->x == 3 && (*pp--).y == 4 && pp == ps);
  point *p0 = &ps[0], *p1 = &(point){5, 6};
  *p0 = *p1;
  CHECK(ps[0].y == 6 && &ps[1] - &ps[0] == 1 && (private char *)&ps[1] - (private char *)ps == 8);
  int (*row)[3][2] = &m[1];
  CHECK((*row)[1][0] == 4 && sizeof *row == 24);
  struct { float3 v; int after; } w = {(float3)(1, 2, 3), 44};
  w.v = (float3)(4, 5, 6);
  w.v.z = 7;
  CHECK(w.after == 44 && w.v.z == 7 && sizeof w == 32);
  struct __attribute__((packed)) { char c; float f; short s; double d; } t = {1, 2.5f, 3, 4.5};
  t.f *= 2;
  t.d += t.s;
  CHECK(sizeof t == 15 && t.f == 5 && t.d == 7.5 && t.c == 1);
  local point shared[8];
  shared[get_local_id(0)] = q;
  shared[get_local_id(0)].y = 77;
  point back = shared[get_local_id(0)];
  CHECK(back.x == 3 && back.y == 77);
  edge zero = {};
  edge from_zero = {0};
  CHECK(zero.b.y == 0 && zero.n.y == 0 && from_zero.tag == 0);
  DONE;
}
