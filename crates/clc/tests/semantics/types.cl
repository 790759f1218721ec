// Values of the wrong type.
typedef struct { int a; } s;
int g(int a, float4 v) { return a; }
float h(s v) { return v; }
void nothing(void) {}
kernel void f(global float *out, constant float *in, local int *l, int n) {
  float4 v = (float4)(1, 2, 3);
  float4 w = (float4)(1, 2, 3, 4, 5);
  int4 i = v;
  int k = v;
  v = (float4)i;
  v = i + w;
  v = v.xyzq;
  v = v.xx + v.xyz;
  v.xx = v.xy;
  float2 two = v.s4;
  int *p = out;
  local float *q = l;
  global int *r = out;
  global float *u = in;
  out = n;
  n = out;
  if (v > 0) n++;
  while (i) n--;
  n = 1.5f % 2;
  n = ~1.5f;
  n <<= 2.0f;
  s t = 3;
  t = n;
  n = t + 1;
  n = nothing();
  g(1);
  g(1, 2, 3);
  g(v, v);
  in[0] = 1;
  const int fixed = 1;
  fixed = 2;
  5 = n;
  n + 1 = 2;
  &n = 0;
  &v.x;
  *n = 1;
  n[0] = 1;
  out[1.5f] = 1;
  n.x = 1;
  (global int *)l;
  double4 dd = (double4)v;
  int arr[3];
  arr = 0;
  return n;
}
int no_value(void) { return; }
int falls(int x) { if (x) return 1; }
