// The usual arithmetic conversions, with values that are known only when the program runs.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

int __attribute__((overloadable)) kind(int x) { return 1; }
int __attribute__((overloadable)) kind(uint x) { return 2; }
int __attribute__((overloadable)) kind(long x) { return 3; }
int __attribute__((overloadable)) kind(ulong x) { return 4; }
int __attribute__((overloadable)) kind(float x) { return 5; }
int __attribute__((overloadable)) kind(double x) { return 6; }
int __attribute__((overloadable)) kind(char x) { return 7; }
int __attribute__((overloadable)) kind(uchar x) { return 8; }
int __attribute__((overloadable)) kind(short x) { return 9; }
int __attribute__((overloadable)) kind(ushort x) { return 10; }
int __attribute__((overloadable)) kind(float4 x) { return 11; }
int __attribute__((overloadable)) kind(char4 x) { return 12; }
int __attribute__((overloadable)) kind(int4 x) { return 13; }
int __attribute__((overloadable)) kind(uchar4 x) { return 14; }
int __attribute__((overloadable)) kind(short4 x) { return 15; }
int __attribute__((overloadable)) kind(long2 x) { return 16; }

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  char c = (char)(zero - 100);
  uchar uc = (uchar)(zero + 200);
  short s = (short)(zero - 30000);
  ushort us = (ushort)(zero + 60000);
  int i = zero - 2000000000;
  uint u = (uint)zero + 4000000000u;
  long l = (long)zero - 9000000000000000000l;
  ulong ul = (ulong)zero + 18000000000000000000ul;
  float f = (float)zero + 1.5f;
  double d = (double)zero + 2.5;
  bool b = zero == 0;

  // Types of the results.
  CHECK(kind(c + c) == 1 && kind(uc + uc) == 1 && kind(s * us) == 1 && kind(b + b) == 1 && kind(-c) == 1);
  CHECK(kind(~uc) == 1 && kind(!l) == 1 && kind(c << l) == 1 && kind(l << c) == 3 && kind(us >> u) == 1);
  CHECK(kind(i + u) == 2 && kind(u + l) == 3 && kind(l + ul) == 4 && kind(i + ul) == 4 && kind(u * ul) == 4);
  CHECK(kind(f + l) == 5 && kind(f + d) == 6 && kind(d + ul) == 6 && kind(c + f) == 5 && kind(f + 1.0) == 6);
  CHECK(kind(i < l) == 1 && kind(f == d) == 1 && kind(b && u) == 1 && kind((c, ul)) == 4 && kind(c += 1) == 7);
  CHECK(kind(b ? c : uc) == 1 && kind(b ? i : u) == 2 && kind(b ? u : f) == 5 && kind(b ? c : c) == 1);
  c -= 1;
  CHECK(kind(c++) == 7 && kind(--c) == 7 && kind(us = i) == 10);
  us = (ushort)(zero + 60000);

  // Values.
  CHECK(c + uc == 100 && c * uc == -20000 && uc * uc == 40000 && (uchar)(uc * uc) == 64);
  CHECK(s - us == -90000 && -uc == -200 && ~uc == -201 && ~us == -60001);
  CHECK(i - u == 2294967296u - 4000000000u + 4294967295u + 1u - 0u);
  CHECK((i < u) == 1 && (c < u) == 0 && (-1 < zero) == 1 && (-1 < (uint)zero) == 0 && (s < us) == 1);
  CHECK((c < ul) == 0 && (c < l) == 0 && (l < c) == 1 && (u > l) == 1 && (i > (long)u) == 0);
  CHECK(i / 7 == -285714285 && i % 7 == -5 && u / 7 == 571428571u && u % 7u == 3u);
  CHECK(-7 / (zero + 2) == -3 && -7 % (zero + 2) == -1 && 7 / (zero - 2) == -3 && 7 % (zero - 2) == 1);
  CHECK(uc >> 3 == 25 && c >> 2 == -25 && (uint)c >> 28 == 15u && s >> 15 == -1 && us >> 15 == 1 && l >> 63 == -1l);
  CHECK(uc << 8 == 51200 && (uchar)(uc << 1) == 144 && 1 << (zero + 31) == INT_MIN && 1u << (zero + 31) == 0x80000000u);
  CHECK(1l << (zero + 40) == 1099511627776l && (ul >> 60) == 15ul && (1 << (zero + 4u)) == 16);
  CHECK(f + uc == 201.5f && f * c == -150.0f && d - s == 30002.5 && (float)u == 4e9f && (double)ul == 1.8e19);
  CHECK((float)(zero + 16777217) == 16777216.0f && (double)(zero + 16777217) == 16777217.0);
  CHECK((int)(f + 1.75f) == 3 && (int)-(f + 1.75f) == -3 && (uchar)(f * 100) == 150 && (long)(d * 1e18) == 2500000000000000000l);
  CHECK((b ? c : uc) == -100 && (b ? -1 : u) == 0xffffffffu && (!b ? 0 : d) == 2.5);
  CHECK(b + b == 2 && b == 1 && (bool)(f - 1.5f) == 0 && (bool)0.1f == 1 && (bool)(zero + 256) == 1);

  // Compound assignment computes in the common type and narrows at the end.
  c = (char)(zero + 100); c += 100; CHECK(c == -56);
  c = (char)(zero + 100); c *= 3; CHECK(c == 44);
  c = (char)(zero - 128); c /= -1; CHECK(c == -128);
  c = (char)(zero - 128); c = -c; CHECK(c == -128);
  uc = (uchar)(zero + 250); uc += 10.75f; CHECK(uc == 4 || uc == 255 || uc == 260 % 256);
  uc = (uchar)(zero + 10); uc *= 2.55f; CHECK(uc == 25);
  uc = (uchar)(zero + 5); uc -= 6; CHECK(uc == 255);
  uc = (uchar)(zero + 128); uc <<= 1; CHECK(uc == 0);
  uc = (uchar)(zero + 128); uc >>= 7; CHECK(uc == 1);
  c = (char)(zero - 128); c >>= 7; CHECK(c == -1);
  s = (short)(zero + 32767); s++; CHECK(s == -32768);
  us = (ushort)zero; us--; CHECK(us == 65535);
  us ^= 0x1ff00; CHECK(us == 0x00ff);
  us |= -1; CHECK(us == 65535);
  us &= ~7; CHECK(us == 65528);
  i = zero + 7; i /= 2.0f; CHECK(i == 3);
  i = zero + 7; i *= 0.5; CHECK(i == 3);
  i = zero + 1; i += 0xffffffffu; CHECK(i == 0);
  i = zero + 10; i -= 3ul; CHECK(i == 7);
  i = zero - 10; i %= 4u; CHECK(i == (int)((uint)-10 % 4u));
  i = zero + 10; i <<= 2ul; CHECK(i == 40);
  u = (uint)zero; u -= 1; CHECK(u == UINT_MAX);
  u = (uint)zero + 5; u /= -1; CHECK(u == 0);
  l = zero + 5; l += d; CHECK(l == 7);
  f = (float)zero + 16777216.0f; f += 1; CHECK(f == 16777216.0f);
  f = (float)zero + 16777216.0f; f += 1.0; CHECK(f == 16777216.0f);
  f = (float)zero + 1; f += 1.0 / 3; CHECK(f == (float)(1.0 + 1.0 / 3));
  b = zero; b += 2; CHECK(b == 1);
  b = !zero; b &= 2; CHECK(b == 0);

  // Scalars meet vectors: the scalar takes the vector's type of element.
  float4 f4 = (float4)(1, 2, 3, 4) + zero;
  char4 c4 = (char4)(zero + 100, -100, 7, -7);
  int4 i4 = (int4)(zero + 10, 20, 30, 40);
  short4 s4 = (short4)((short)zero, 1, 2, 3);
  uchar4 uc4 = (uchar4)((uchar)(zero + 200), 100, 50, 25);
  long2 l2 = (long2)(zero, 5);
  CHECK(kind(f4 + 1) == 11 && kind(2 * f4) == 11 && kind(c4 + (char)1) == 12 && kind(i4 << 2) == 13 && kind(l2 + 1) == 16);
  CHECK(kind(i4 == 3) == 13 && kind(f4 < 2) == 13 && kind(c4 > (char)0) == 12 && kind(s4 != s4) == 15 && kind(!f4) == 13);
  CHECK(all(f4 + 1 == (float4)(2, 3, 4, 5)) && all(2 * i4 - 1 == (int4)(19, 39, 59, 79)));
  CHECK(all(c4 + (char)100 == (char4)(-56, 0, 107, 93)) && all(c4 * c4 == (char4)(16, 16, 49, 49)));
  CHECK(all(uc4 + uc4 == (uchar4)(144, 200, 100, 50)) && all(uc4 << (uchar4)(1) == (uchar4)(144, 200, 100, 50)));
  CHECK(all((i4 > 15) == (int4)(0, -1, -1, -1)) && all(!i4 == 0) && all(-s4 == (short4)(0, -1, -2, -3)));
  f4 += 1; f4 *= f; CHECK(f4.y > 3.99f && f4.y < 4.01f);
  i4 /= 3; CHECK(all(i4 == (int4)(3, 6, 10, 13)));
  i4 %= (int4)(2, 4, 3, 5); CHECK(all(i4 == (int4)(1, 2, 1, 3)));
  i4 = zero + 5; CHECK(all(i4 == 5));
  f4 = 1; CHECK(all(f4 == 1.0f));
  c4 = (char)(zero - 1); CHECK(all(c4 == (char4)(-1)));
  i4 <<= (int4)(1, 2, 3, 4); CHECK(all(i4 == (int4)(10, 20, 40, 80)));
  // The number of places is taken modulo the width.
  i4 = (int4)(1); i4 <<= zero + 33; CHECK(all(i4 == 2));
  i = zero + 1; CHECK(i << (zero + 33) == 2 && 1l << (zero + 65) == 2l);
  DONE;
}
