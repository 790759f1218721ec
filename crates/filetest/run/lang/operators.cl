// Operators: assignment forms on every kind of type, evaluation once, conversions between operands, contraction.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

int side(private int *n, int v) { *n = *n * 10 + v; return v; }
int touch(private int *n) { *n = 100; return 1; }
enum mode { OFF, ON = 5, LAST = -1 };
int choose(enum mode m) { switch (m) { case OFF: return 1; case ON: return 2; default: return 3; } }
int ranges(int x) { switch (x) { case -5 ... -1: return 1; case 0 ... 1000: return 2; case 2000: return 3; } return 4; }
int big(ulong x) { switch (x) { case 0xffffffffffffffffUL: return 1; case 1UL << 63: return 2; } return 3; }
float no_contraction(float a, float b, float c) {
#pragma OPENCL FP_CONTRACT OFF
  return a * b + c;
}
kernel void test(global int *out) {
  uchar u = 250;
  u += 10;
  CHECK(u == 4);
  u *= 2.75f;
  CHECK(u == 11);
  u <<= 6;
  CHECK(u == 192);
  u >>= 1;
  u |= 3;
  u ^= 1;
  u &= ~64;
  CHECK(u == 34);
  char c = -7;
  c /= 2;
  CHECK(c == -3);
  c %= 2;
  CHECK(c == -1 && -7 / 2 == -3 && -7 % 2 == -1 && 7u / 2 == 3);
  c = 127;
  c++;
  CHECK(c == -128 && --c == 127);
  bool b = 4;
  b += 1;
  CHECK(b == 1 && sizeof(b + b) == 4);
  float f = 7;
  f /= 2;
  f -= 1;
  CHECK(f++ == 2.5f && --f == 2.5f && -f == -2.5f && !f == 0);
  double d = f;
  d *= 3;
  CHECK(d == 7.5);
  long l = 1;
  l <<= 40;
  l -= 1;
  CHECK((int)l == -1 && (uint)(l >> 8) == 0xffffffffu && (short)l == -1);
  CHECK(-1 >> 1 == -1 && -1u >> 31 == 1 && (1 << 31) < 0 && 1l << 40 == 0x10000000000);
  CHECK((char)1 << 10 == 1024 && (uchar)200 + (uchar)100 == 300);
  int order = 0;
  CHECK(side(&order, 1) + side(&order, 2) * side(&order, 3) == 7 && order == 123);
  order = 1;
  order += touch(&order);
  CHECK(order == 101);
  int x, y, z;
  x = y = z = 4;
  CHECK(x + y + z == 12 && (x += y -= 1) == 7 && y == 3);
  CHECK((x > 3 ? y > 2 ? 1 : 2 : 3) == 1 && (x ?: 9) == 7 && (0 ?: 9) == 9);
  CHECK(choose(OFF) == 1 && choose(ON) == 2 && choose(LAST) == 3 && ON + 1 == 6);
  CHECK(ranges(-3) == 1 && ranges(0) == 2 && ranges(1000) == 2 && ranges(1001) == 4 && ranges(2000) == 3 && ranges(-6) == 4);
  CHECK(big(~0UL) == 1 && big(1UL << 63) == 2 && big(1) == 3);
  CHECK((0.1f < 0.1) == 0 && 1.0f / 0 == INFINITY && !(NAN == NAN) && NAN != NAN && !(NAN < 1) && !(NAN >= 1));
  CHECK(-0.0f == 0.0f && signbit(-0.0f) && signbit(-1.0f * 0.0f) && !signbit(0.0f + -0.0f));
  uchar4 px = (uchar4)(250, 1, 2, 3);
  px += (uchar)10;
  CHECK(px.x == 4 && (px * (uchar)2).w == 26 && (px - 1).y == 10 && (1 + px).y == 12);
  px >>= (uchar4)(1);
  px.xy = px.yx;
  px.zw |= (uchar2)(128);
  CHECK(px.x == 5 && px.y == 2 && px.z == 134);
  px.x = px.w = 9;
  CHECK(px.x == 9 && px.w == 9 && px.s3++ == 9 && px.w == 10);
  float4 v = (float4)(1, 2, 3, 4), w = v;
  v *= 2;
  v += w * v - 1;
  CHECK(all(v == (float4)(3, 11, 23, 39)));
  CHECK(all((v && (float4)(0, 1, 0, 1)) == (int4)(0, -1, 0, -1)) && all((!w) == (int4)(0)));
  CHECK(all((w > 2 ? v : -v) == (float4)(-3, -11, 23, 39)) && all((w > 2 ? 1 : 0) == (int4)(0, 0, 1, 1)));
  int4 iv = w == 2;
  CHECK(iv.y == -1 && iv.x == 0 && all((iv ? (int4)(7) : 8) == (int4)(8, 7, 8, 8)));
  short4 sv = (short4)(1) + (short4)(2) * (short)3;
  CHECK(sv.w == 7 && sizeof(sv > (short)1) == 8 && (sv > (short)1).x == -1);
  float3 t = (float3)(1, 2, 3);
  t = t.zyx * t + (t > 2).z;
  CHECK(t.x == 2 && t.y == 3 && t.z == 2);
  float4 grid[2][2] = {{(float4)(0)}};
  grid[1][0].s2 = 5;
  grid[1][1] = grid[1][0].zzxy;
  CHECK(grid[1][1].x == 5 && grid[1][1].y == 5 && grid[1][1].z == 0 && grid[0][1].x == 0);
  float a = 1 + FLT_EPSILON, s = -(1 + 2 * FLT_EPSILON);
  volatile float va = a, vs = s;
  CHECK(no_contraction(va, va, vs) == 0);
#ifdef FP_FAST_FMAF
  float rest = FLT_EPSILON * FLT_EPSILON;
#else
  float rest = 0;
#endif
  CHECK(va * va + vs == rest && vs + va * va == rest && va * va - -vs == rest && mad(va, va, vs) == rest);
  CHECK(mad(1 + FLT_EPSILON, 1 + FLT_EPSILON, -(1 + 2 * FLT_EPSILON)) == rest && fma(va, va, vs) != 0);
  float acc = vs;
  acc += va * va;
  CHECK(acc == rest);
  size_t zero = 0;
  CHECK(zero - 1 > 0 && (int)(zero - 1) == -1 && (zero - 1) / 2 == LONG_MAX);
  int neg = -2;
  int data[4] = {1, 2, 3, 4};
  CHECK((data + 3)[neg] == 2 && *(&data[2] - 1u) == 2 && (&data[3])[-1] == 3);
  uint un = 1;
  CHECK(data[un + 1] == 3 && (data + 2) - un == data + 1);
  (void)x, (void)0;
  DONE;
}
