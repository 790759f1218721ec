// Mistakes that students make.
kernel void missing_semicolon(global float *a) {
  int i = get_global_id(0)
  a[i] = 1;
}
kernel void wrong_index(global float *a, int n) {
  for (int i = 0; i < n; i++) a(i) = 0;
  float x = a;
  a = 3.0f;
  a[1.5f] = 2;
  int i = get_global_id();
  if (i = n) a[i] = 0;
  while (a) ;
  barrier(CLK_LOCAL_MEM_FENCE;
}
kernel void vectors(global float4 *v, global float *s) {
  float4 a = v[0], b = {1, 2, 3, 4};
  float3 c = a;
  float d = dot(a, c);
  float4 e = (float4)(1, 2, 3);
  float4 f = (1, 2, 3, 4);
  a.xx = b.xy;
  a.xyzw.q = 1;
  s[0] = a.s4;
  if (a == b) s[0] = 1;
  a = b ? a : b;
  int4 g = a;
  s[1] = length(v);
  a += c;
  v = a;
  s[2] = max(a, 1);
}
kernel int returns(global int *a) { return 1; }
kernel void no_space(int *a, float **b, bool c, size_t n) { }
kernel void local_init(global int *a) {
  local int x = 5;
  local float tile[16] = {0};
  if (a[0]) { local int y; y = 1; }
  const int n = 5;
  n = 6;
  constant int k = a[0];
  int size = a[0];
  float dynamic[size];
  constant float table[] = {1, 2};
  table[0] = 3;
}
void uses_barrier_result(void) { int x = barrier(CLK_GLOBAL_MEM_FENCE); }
float helper(float x) { if (x > 0) return x; }
kernel void calls(global float *a) {
  a[0] = helper();
  a[0] = helper(1, 2);
  a[0] = helper(a);
  a[0] = undefined_function(1);
  a[0] = Sin(1.0f);
  a[0] = pow(2, 3);
  unsigned x = 5; x.y = 3;
  a->x = 1;
  printf("%d %f\n", 1.0f, 2);
  printf("%s\n", a);
  return a[0];
}
struct point { float x, y };
