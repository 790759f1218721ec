// Operators on vectors: arithmetic, relational (0 or -1), logical, shifts, mixed scalar and vector.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  int4 a = (int4)(1, -2, 3, -4), b = (int4)(4, 3, 2, 1);
  CHECK(all(a + b == (int4)(5, 1, 5, -3)));
  CHECK(all(a * 2 == (int4)(2, -4, 6, -8)));
  CHECK(all(10 - a == (int4)(9, 12, 7, 14)));
  CHECK(all(a / 2 == (int4)(0, -1, 1, -2)));
  CHECK(all(a % 2 == (int4)(1, 0, 1, 0)));
  CHECK(all((a < b) == (int4)(-1, -1, 0, -1)));
  CHECK((1 < 2) == 1);
  CHECK(all((a && b) == (int4)(-1)));
  CHECK(all((a || (int4)(0)) == (int4)(-1)));
  CHECK(all(!a == (int4)(0)) && all(!(int4)(0) == (int4)(-1)));
  CHECK(all(~a == (int4)(-2, 1, -4, 3)));
  CHECK(all((a << 1) == (int4)(2, -4, 6, -8)));
  CHECK(all((a >> (int4)(1)) == (int4)(0, -1, 1, -2)));
  CHECK(all(((uint4)(0x80000000u) >> 31) == (uint4)(1)));
  CHECK(all((a & 1) == (int4)(1, 0, 1, 0)) && all((a ^ a) == 0));
  CHECK((1 << 33) == 2);
  CHECK(all(((char2)(1) << (char2)(9)) == (char2)(2)));
  float4 f = (float4)(1, 2, 3, 4);
  CHECK(all(f * f + 1.0f == (float4)(2, 5, 10, 17)));
  CHECK(all((f > 2.5f) == (int4)(0, 0, -1, -1)));
  double2 d = (double2)(1, 2);
  CHECK(all((d == (double2)(1, 3)) == (long2)(-1, 0)));
  char2 c = (char2)(1, 2);
  CHECK(sizeof(c == c) == 2 && all((c != c) == (char2)(0)));
  a += 1;
  a *= b;
  CHECK(all(a == (int4)(8, -3, 8, -3)));
  a <<= 1;
  CHECK(all(a == (int4)(16, -6, 16, -6)));
  a++;
  CHECK(all(a == (int4)(17, -5, 17, -5)));
  int4 old = a--;
  CHECK(all(old == (int4)(17, -5, 17, -5)) && all(a == (int4)(16, -6, 16, -6)));
  CHECK(all(-a == (int4)(-16, 6, -16, 6)) && all(+a == a));
  uchar4 u = (uchar4)(200);
  CHECK(all(u + u == (uchar4)(144)));
  short3 s = (short3)(1, 2, 3);
  s = s * (short)3;
  CHECK(all(s == (short3)(3, 6, 9)));
  CHECK(any(a > 0) && !all(a > 0));
  DONE;
}
