// Nothing here is wrong.
typedef struct node { struct node *next; int v; } node;
enum colour { RED, GREEN };
static inline float sq(float x) { return x * x; }
float step(float a, float b);
float step(float a, float b) { return b - a; }
float4 __attribute__((overloadable)) mix(float4 a, int b) { return a * b; }
constant sampler_t smp = 0;
// A structure that is never completed, and one that is before its variable is used.
extern constant struct unknown far;
extern constant struct bar bar1;
struct bar { int x; };
int of_bar(void) { return bar1.x; }
__kernel __attribute__((vec_type_hint(float4))) __attribute__((work_group_size_hint(8, 1, 1)))
void f(__global float4 *restrict out, __constant float *w, __local uchar *l, const uint n, float3 v, uint3 w2) {
}
kernel void g(global float4 *restrict out, const global half *h, volatile local int *l, uint n) {
  enum colour c = GREEN;
  out[n] = mix(out[n], 2) + mix(out[0], out[1], 0.5f) + step(1, 2);
  out[n].x = vload_half(n, h) + sq(c);
  atomic_inc(l);
  float a = 1, b = fabs(a) ?: 2.0f;
  printf("%s: %f %v4hlf %p\n", "x", a, out[0], out);
  ulong z = (ulong)out;
  for (int i = 0; i < 3; i++) if (i) continue; else break;
  out[n] = select(out[0], out[1], (int4)(0)) * (n > 2 ? 1 : 2.0f);
  barrier(CLK_LOCAL_MEM_FENCE);
  (void)z; (void)b;
  return;
}
