// Loops over short vectors that are wider than the registers, split by components: several loop-carried vectors,
// initial values from two edges, counters used after the loop, conditions by component, and no iteration.
// run: global=37 local=9
// run: global=64 local=64
// arg: buffer float 64 = random 3
// arg: buffer float 1024 = zero
// arg: buffer int 128 = zero
// arg: value int 5
// arg: value int 0
kernel void k(global const float *in, global float *out, global int *counts, int n, int none) {
  int i = get_global_id(0);
  float a = in[i];
  float16 x = (float16)(a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, a), y = (float16)(2 * a);
  int k;
  for (k = 0; k < n; k++) {
    x = mad(y, 0.25f, x);
    y = mad(x, 0.5f, y);
  }
  counts[i] = k;
  float16 z = none ? x : y, w = z + 1.0f, u = w * a;
  for (k = 3; k < n + none; k++) {
    float16 t = select(z, w, isless(z, u));
    z = w - u;
    w = u + (float)k;
    u = t * 0.5f;
  }
  counts[64 + i] = k;
  int16 p = convert_int16(x), q = p + 7, r = ~p;
  for (int j = 0; j < none; j++) {
    p += q;
    q ^= r;
    r -= p;
  }
  // A loop that uses what another one has computed.
  float16 s = (float16)(a - 1), t = s + 0.5f;
  for (int j = 0; j < n; j++) {
    s = mad(t, x * 1e-3f, s);
    t = mad(s, y * 1e-3f, t);
  }
  z += s - t;
  x += z + w * u + convert_float16(p ^ q ^ r) * 1e-9f;
  vstore16(x + y.s048c159d26ae37bf, i, out);
}
