// Library functions that stay calls (slow paths, and functions that are long or have loops): for all lanes, under
// divergent masks, in divergent loops, with uniform arguments, twice with the same ones, and in functions that are
// calls themselves. Angles on both sides of the limit of the fast reduction, in one vector.
// run: global=64 local=16 kernel=masked
// run: global=37 local=37 kernel=masked
// run: global=29x3 local=29x1 offset=3 kernel=masked
// run: global=64 local=16 kernel=loops
// run: global=45 local=9 offset=5 kernel=loops
// run: global=64 local=32 kernel=short_vectors
// run: global=51 local=17 kernel=uniform
// arg: buffer float 256 = random 11
// arg: buffer int 256 = random 12
// arg: buffer float 1024 = zero
// arg: value float 2.5
// arg: value float 300000

size_t number(void) {
  return get_global_id(0) - get_global_offset(0) + get_global_id(1) * 64;
}

// Of all magnitudes up to 2^32.
float angle(int x) { return ldexp((float)(x & 0xffff) + 0.25f, (x >> 16 & 31) - 16); }

kernel void masked(global const float *p, global const int *n, global float *out, float a, float b) {
  const size_t i = number() & 255;
  const float x = angle(n[i]);
  float y = 0.0f, z = 1.0f;
  if (n[i] & 1)
    y = sin(x);
  else if (n[i] & 2)
    y = pow(fabs(p[i]), a) + fmod(x, b);
  if ((n[i] & 12) == 4) {
    int q;
    y += remquo(x, a, &q);
    z = q + lgamma(y);
  }
  out[4 * i] = y;
  out[4 * i + 1] = z;
  out[4 * i + 2] = cos(x);
  out[4 * i + 3] = tan(-x);
}

kernel void loops(global const float *p, global const int *n, global float *out, float a, float b) {
  const size_t i = number() & 255;
  const int count = n[i] & 7;
  float sum = 0.0f;
  for (int k = 0; k < count; k++) {
    const float x = angle(n[(i + k * 37) & 255]);
    if (x > b * (k + 1))
      break;
    sum += sin(x * a) + erf(sum);
    for (int m = n[k] & 3; m > 0; m--)
      sum = fmod(sum * x, (float)m) + (m & 1 ? pow(a, sum) : tgamma(sum));
  }
  out[i] = sum;
  out[256 + i] = rootn(fabs(sum), count + 1);
}

kernel void short_vectors(global const float *p, global const int *n, global float *out, float a, float b) {
  const size_t i = number() & 255;
  const float3 x = (float3)(angle(n[i]), angle(n[(i + 1) & 255]), a);
  float3 c;
  const float3 s = sincos(x, &c);
  const float3 r = pow(fabs(s), c) + remainder(x, (float3)(b, a, 3.0f));
  out[4 * i] = s.x + c.y;
  out[4 * i + 1] = r.x;
  out[4 * i + 2] = r.y;
  out[4 * i + 3] = r.z;
}

kernel void uniform(global const float *p, global const int *n, global float *out, float a, float b) {
  const size_t i = number() & 255;
  float y = pow(a, b) + sin(b);
  if (a < p[i])
    y += pow(b, a) * cos(b * 7.0f) + pow(a, b);
  out[i] = y + fmod(b, a) * (float)i;
}
