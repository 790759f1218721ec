// Calls: kernels that call kernels, prototypes, overloads, arguments of all kinds, static and inline functions.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct { int a; float4 v; char s[3]; } bag;
int later(int x);
static inline int twice(int x) { return 2 * x; }
inline int __attribute__((always_inline)) thrice(int x) { return x * 3; }
int __attribute__((noinline)) four(int x) { return x * 4; }
float4 __attribute__((overloadable)) mix2(float4 a, float4 b) { return a + b; }
float __attribute__((overloadable)) mix2(float a, float b) { return a * b; }
int __attribute__((overloadable)) mix2(global int *a, int b) { return b; }
int __attribute__((overloadable)) mix2(local int *a, int b) { return -b; }
int __attribute__((const)) pure_one(void) { return 1; }
bag changed(bag b) { b.a++; b.v.w *= 2; b.s[1] = 'x'; return b; }
void through(bag *b, const float4 *v, uchar c) { b->v = *v; b->s[0] = (char)c; }
float3 cross3(float3 a, float3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; }
int eight(char a, uchar b, short c, ushort d, long e, float f, double g, bool h) { return a + b + c + d + (int)e + (int)f + (int)g + h; }
uchar wrap(int x) { return x; }
float to_float(int x) { return x / 2; }
void nothing(void) { }
int early(int x) { if (x > 2) return 1; for (;;) { if (x++ > 5) return x; if (x == 2) break; } return 0; }

kernel void helper(global int *to, local int *scratch, int v) {
  local int own[1];
  scratch[get_local_id(0)] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) own[0] = v * 2;
  barrier(CLK_LOCAL_MEM_FENCE);
  to[get_global_id(0)] = scratch[get_local_id(0)] + own[0];
}

kernel __attribute__((vec_type_hint(float4))) void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  local int scratch[8];
  helper(out, scratch, 11);
  CHECK(out[get_global_id(0)] == 33);
  barrier(CLK_LOCAL_MEM_FENCE);
  helper(out, scratch, zero + 5);
  CHECK(out[get_global_id(0)] == 15);
  CHECK(later(twice(3)) == 7 && thrice(four(zero + 2)) == 24 && pure_one() == 1);
  CHECK(mix2((float4)(1), (float4)(2)).x == 3.0f && mix2(2.0f, 3.0f) == 6.0f && mix2(out, 4) == 4 && mix2(scratch, 4) == -4);
  bag b = {1, (float4)(1, 2, 3, 4), {'a', 'b', 'c'}};
  bag c = changed(b);
  CHECK(b.a == 1 && b.s[1] == 'b' && b.v.w == 4 && c.a == 2 && c.v.w == 8 && c.s[1] == 'x' && c.s[2] == 'c');
  CHECK(changed(changed(c)).a == 4 && changed(b).v.z == 3);
  float4 v = (float4)(9); through(&b, &v, 200);
  CHECK(b.v.x == 9 && b.s[0] == (char)200 && b.s[1] == 'b');
  float3 x = cross3((float3)(1, 0, 0), (float3)(0, 1, 0)); CHECK(x.z == 1 && x.x == 0);
  CHECK(eight(-1, 255, -2, 65535, 1l << 40 | 3, 2.9f, -2.9, 7) == -1 + 255 - 2 + 65535 + 3 + 2 - 2 + 1);
  CHECK(eight(300, -1, 70000, -1, 3u, 2, 1, 0.5f) == 44 + 255 + 4464 + 65535 + 3 + 2 + 1 + 1);
  CHECK(wrap(zero + 260) == 4 && to_float(zero + 5) == 2.0f && (nothing(), 5) == 5);
  CHECK(early(zero + 3) == 1 && early(zero + 1) == 0 && early(zero - 1) == 0 && early(zero + 2) == 7);
  CHECK(max(twice(2), 3) == 4 && min((int2)(1, 5), 3).y == 3);
  DONE;
}
int later(int x) { return x + 1; }
