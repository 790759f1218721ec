// Functions: overloading, several address spaces, structures by value, prototypes, kernels that call kernels, inline.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

typedef struct { float4 v; int n[3]; } big;
int later(int x);
int __attribute__((overloadable)) pick(int x) { return 1; }
int __attribute__((overloadable)) pick(float x) { return 2; }
int __attribute__((overloadable)) pick(int2 x) { return 3; }
int __attribute__((overloadable)) pick(global int *x) { return 4; }
int __attribute__((overloadable)) pick(private int *x) { return 5; }
static inline float half_of(float x) { return x * 0.5f; }
big make(int a) { big b; b.v = (float4)(a); for (int i = 0; i < 3; i++) b.n[i] = a + i; return b; }
int total(big b) { b.n[0] += 1000; return b.n[0] + b.n[1] + b.n[2] + (int)b.v.w; }
void out_params(float x, private float *whole, private int *sign) { *whole = floor(x); *sign = x < 0; }
int loc(local int *p) { return *p; }
kernel void helper(global int *dst, int value) { dst[get_global_id(0)] = value; }
kernel void test(global int *out) {
  local int shared[8];
  CHECK(later(5) == 26);
  CHECK(pick(1) == 1 && pick(1.0f) == 2 && pick((int2)(1)) == 3 && pick(out) == 4);
  int p;
  CHECK(pick(&p) == 5);
  CHECK(half_of(3) == 1.5f);
  big b = make(7);
  CHECK(b.v.z == 7 && b.n[2] == 9);
  CHECK(total(b) == 1000 + 7 + 8 + 9 + 7 && b.n[0] == 7);
  CHECK(total(make(1)) == 1007);
  CHECK(make(3).n[1] == 4);
  float w;
  out_params(-2.5f, &w, &p);
  CHECK(w == -3 && p == 1);
  shared[get_local_id(0)] = (int)get_local_id(0) + 40;
  CHECK(loc(&shared[get_local_id(0)]) == (int)get_local_id(0) + 40);
  helper(out, 12345);
  CHECK(out[get_global_id(0)] == 12345);
  DONE;
}
int later(int x) { return x * x + 1; }
