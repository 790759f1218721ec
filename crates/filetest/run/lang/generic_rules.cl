// Generic pointers: what points where, by the rules of conversion, comparison, overloading and the built-in functions.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0
#define OVERLOADED __attribute__((overloadable))

typedef struct { int a; int *p; float4 v; } pair;

int sum(const int *p, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += p[i];
  return s;
}

int walk(int *p, int *end) {
  int s = 0;
  while (p != end) s += *p++;
  return s;
}

void set(pair *q, int a, int *p) {
  q->a = a;
  q->p = p;
  q->v.yw = (float2)(a, a + 1);
}

void swap(int **a, int **b) {
  int *t = *a;
  *a = *b;
  *b = t;
}

int *later(int *p, int by) { return p + by; }

int OVERLOADED kind(global int *p) { return 1; }
int OVERLOADED kind(local int *p) { return 2; }
int OVERLOADED kind(private int *p) { return 3; }
int OVERLOADED kind(int *p) { return 4; }
int OVERLOADED named(int *p) { return 5; }
int OVERLOADED named(float *p) { return 6; }

float parts(float x, float *whole, int *exponent) { return modf(x, whole) + frexp(x, exponent); }

kernel void test(global int *out) {
  local int shared[16];
  int own[4] = {1, 2, 3, 4};
  int id = get_local_id(0);
  shared[id] = 10 * id;
  barrier(CLK_LOCAL_MEM_FENCE);

  // Conversions, implicit and explicit.
  int *p = own;
  CHECK(p[2] == 3 && sum(own, 4) == 10 && walk(own, own + 4) == 10);
  p = &shared[id];
  CHECK(*p == 10 * id && sum(&shared[id], 1) == 10 * id);
  local int *back = (local int *)p;
  CHECK(back == &shared[id] && *back == 10 * id);
  generic int *g = p;
  __generic const int *c = g;
  CHECK(*c == 10 * id);
  void *any = own + 1;
  CHECK(*(int *)any == 2 && *(private int *)any == 2);
  out[get_global_id(0)] = 77;
  p = out + get_global_id(0);
  CHECK(*p == 77 && *(global int *)p == 77);

  // Comparisons and differences with named pointers.
  p = own + 3;
  CHECK(p == own + 3 && own + 3 == p && p != own && p > own && p - own == 3 && own - p == -3);
  CHECK(p != 0 && p && !(p == NULL));
  p = 0;
  CHECK(!p && p == 0);
  local int *nothing = 0;
  p = nothing;
  CHECK(p == 0 && !to_local(p) && !to_private(p) && !to_global(p));

  // Differences of which one pointer went through memory, and pointers as numbers.
  int *kept[8];
  for (int i = 0; i < 4; i++) {
    kept[i] = shared + i;
    kept[4 + i] = own + i;
  }
  volatile int third = 3, seventh = 7;
  CHECK(kept[third] - shared == 3 && shared - kept[third] == -3 && (size_t)kept[third] - (size_t)shared == 12);
  CHECK(kept[seventh] - own == 3 && own - kept[seventh] == -3 && (size_t)kept[seventh] - (size_t)own == 12);
  CHECK((local int *)((size_t)kept[third] - 4) == shared + 2 && *(local int *)(size_t)&shared[id] == 10 * id);
  CHECK((size_t)nothing == 0 && (local int *)(size_t)0 == nothing && (size_t)(private int *)0 == 0);

  // The composite type of a conditional operator.
  p = own;
  CHECK(*(id >= 0 ? p : &shared[0]) == 1);
  CHECK(*(id < 0 ? &own[3] : p + 1) == 2);

  // Pointers in structures, to structures and to pointers.
  pair s;
  set(&s, 5, own);
  CHECK(s.a == 5 && s.p[1] == 2 && s.v.y == 5 && s.v.w == 6);
  s.p[1] = 20;
  CHECK(own[1] == 20 && *later(s.p, 1) == 20);
  int *x = own, *y = shared + id;
  swap(&x, &y);
  CHECK(x == shared + id && y == own && *y == 1);
  int **pp = &x;
  *pp = own + 2;
  CHECK(*x == 3 && **pp == 3);

  // Overloads.
  CHECK(kind(out) == 1 && kind(shared) == 2 && kind(own) == 3 && kind(y) == 4 && kind(&own[1]) == 3);
  float f;
  CHECK(named(out) == 5 && named(shared) == 5 && named(own) == 5 && named(&f) == 6);

  // Which address space.
  int *ps[3] = {out + get_global_id(0), shared + id, own};
  CHECK(to_global(ps[0]) == out + get_global_id(0) && !to_local(ps[0]) && !to_private(ps[0]));
  CHECK(to_local(ps[1]) == shared + id && !to_global(ps[1]) && !to_private(ps[1]));
  CHECK(to_private(ps[2]) == own && !to_global(ps[2]) && !to_local(ps[2]));
  CHECK(get_fence(ps[0]) == CLK_GLOBAL_MEM_FENCE && get_fence(ps[1]) == CLK_LOCAL_MEM_FENCE && get_fence(ps[2]) == 0);
  const int *fixed = own;
  const private int *same = to_private(fixed);
  CHECK(same == own);

  // Built-in functions.
  float whole;
  int exponent;
  CHECK(parts(2.5f, &whole, &exponent) == 0.5f + 0.625f && whole == 2 && exponent == 2);
  float4 wholes;
  float4 *w = &wholes;
  float4 rest = modf((float4)(1.5f, 2.25f, -3.5f, 4.0f), w);
  CHECK(all(rest == (float4)(0.5f, 0.25f, -0.5f, 0)) && all(wholes == (float4)(1, 2, -3, 4)));
  float3 cosines;
  float3 *cp = &cosines;
  float3 sines = sincos((float3)(0, 0, 0), cp);
  CHECK(all(sines == 0.0f) && all(cosines == 1.0f));
  int quotient;
  int *qp = &quotient;
  CHECK(remquo(7.0f, 2.0f, qp) == -1 && quotient == 4);
  p = own;
  int2 two = vload2(1, p);
  CHECK(two.x == 3 && two.y == 4);
  vstore2((int2)(8, 9), 0, p);
  CHECK(own[0] == 8 && own[1] == 9);
  ushort halves[2];
  half *h = (half *)halves;
  vstore_half(1.5f, 1, h);
  CHECK(vload_half(1, h) == 1.5f);

  // Pointers and integers.
  ulong number = (ulong)(uintptr_t)p;
  CHECK((int *)number == p && *(int *)number == 8 && number % 4 == 0 && number == (ulong)(uintptr_t)own);
  DONE;
}
