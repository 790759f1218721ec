// Calls that mean no function, or several.
int __attribute__((overloadable)) pick(int a) { return a; }
int __attribute__((overloadable)) pick(float a) { return a; }
int __attribute__((overloadable)) pick(int2 a, int b) { return b; }
kernel void f(global float *out, global int *n, constant char *text) {
  float4 v = 0;
  out[0] = pick(v);
  out[0] = pick(1.0);
  out[0] = pick(1, 2, 3);
  out[0] = sqrt(n[0]);
  out[0] = max(n[0], 1u);
  out[0] = clamp(out[1], 0, 1);
  out[0] = dot((float8)(1), (float8)(2));
  out[0] = fmax(v, (float2)(1));
  out[0] = sin(1, 2);
  out[0] = sin(n);
  out[0] = fract(1.0f, text);
  out[0] = convert_int4(1.5f);
  out[0] = as_int(1.0);
  out[0] = convert_float4(out);
  v = vload4(0, n);
  vstore4(v, 0, text);
  int mine = 0;
  atomic_add(&mine, 1);
  atomic_add(out, 1);
  atomic_xchg(out, 1.0f);
  read_imagef(v);
  atomic_fetch_add(n, 1);
  work_group_reduce_add((int4)(1));
  v = shuffle(v, (int4)(0));
  barrier();
  3(1);
  out(1);
}
