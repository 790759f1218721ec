// Conditions: ?: on scalars, pointers and vectors, short-circuit evaluation, logic on vectors.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

int count(int *n, int result) { ++*n; return result; }

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1, one = zero + 1, n = 0;
  CHECK((zero && count(&n, 1)) == 0 && n == 0);
  CHECK((one || count(&n, 1)) == 1 && n == 0);
  CHECK((one && count(&n, 5)) == 1 && n == 1);
  CHECK((zero || count(&n, 0)) == 0 && n == 2);
  CHECK((one ? 3 : count(&n, 4)) == 3 && n == 2 && (zero ? count(&n, 3) : 4) == 4 && n == 2);
  CHECK(!zero == 1 && !one == 0 && !!7 == 1 && !0.5f == 0 && !0.0 == 1);
  CHECK((0.1f && one) == 1 && (0.0f || zero) == 0 && !NAN == 0 && !-0.0f == 1);
  CHECK((zero ? 1 : one ? 2 : 3) == 2 && (one ? zero ? 1 : 2 : 3) == 2);
  CHECK((one ? 1 : 2.5f) == 1.0f && sizeof(one ? 1 : 2.5) == 8 && sizeof(zero ? (char)1 : (short)2) == 4);
  int x = 5; (zero ? x : n) + 0; CHECK((one ?: 9) == 1 && (zero ?: 9) == 9);
  if (zero || (one && !zero)) x = 6; CHECK(x == 6);
  if (!(zero && one) && !(zero || zero)) x++; CHECK(x == 7);
  CHECK((1 < 2) + (2 < 1) + (one == 1) * 2 == 3 && -(one > 0) == -1);

  // Vectors: -1 is true; the sign bit chooses.
  int4 a = (int4)(1, -2, 0, 4) + zero, b = (int4)(1, 2, 3, 4);
  float4 f = (float4)(1, NAN, 0, -4) + zero, g = (float4)(1, NAN, -0.0f, 4);
  CHECK(all((a == b) == (int4)(-1, 0, 0, -1)) && all((a < b) == (int4)(0, -1, -1, 0)) && all((a != b) == (int4)(0, -1, -1, 0)));
  CHECK(all((f == g) == (int4)(-1, 0, -1, 0)) && all((f != g) == (int4)(0, -1, 0, -1)) && all((f < g) == (int4)(0, 0, 0, -1)));
  CHECK(all((a && b) == (int4)(-1, -1, 0, -1)) && all((a || (int4)(0)) == (int4)(-1, -1, 0, -1)) && all(!a == (int4)(0, 0, -1, 0)));
  CHECK(all((f && (float4)(1)) == (int4)(-1, -1, 0, -1)) && all(!f == (int4)(0, 0, -1, 0)));
  CHECK(all((a > 0 ? a : b) == (int4)(1, 2, 3, 4)) && all((a < b ? a : b) == (int4)(1, -2, 0, 4)));
  float4 h = (int4)(-1, 0, INT_MIN, 1) ? (float4)(1) : (float4)(2);
  CHECK(all(h == (float4)(1, 2, 1, 2)));
  h = (f > 0.5f) ? f : (float4)(0); CHECK(all(h == (float4)(1, 0, 0, 0)));
  h = one ? f : g; CHECK(h.w == -4); h = zero ? f : g; CHECK(h.w == 4);
  short8 s = (short8)(1, 2, 3, 4, 5, 6, 7, 8) + (short)zero;
  CHECK(all((s > (short)4 ? s : (short8)(0)) == (short8)(0, 0, 0, 0, 5, 6, 7, 8)));
  double2 d = (double2)(1, 2) + zero; long2 l = d > 1.5;
  CHECK(l.x == 0 && l.y == -1 && all((l ? d : -d) == (double2)(-1, 2)));
  uchar4 u = (uchar4)(200, 100, 0, 255) + (uchar)zero; char4 cu = u > (uchar4)(128);
  CHECK(all(cu == (char4)(-1, 0, 0, -1)) && all(as_uchar4(cu) == (uchar4)(255, 0, 0, 255)));
  int3 t = (int3)(1, 2, 3) + zero; CHECK(all((t == (int3)(1, 0, 3) ? t : -t) == (int3)(1, -2, 3)) && any(t > 2) && !all(t > 2));
  CHECK(all(select(a, b, (int4)(0, -1, 0, -1)) == (int4)(1, 2, 0, 4)) && select(1, 2, one) == 2 && select(1.0f, 2.0f, zero) == 1.0f);
  CHECK(all(select(f, (float4)(9), isnan(f)).xy == (float2)(1, 9)) && bitselect(0xf0, 0x0f, 0xff) == 0x0f);
  // `any` and `all` look at the sign bit only.
  CHECK(any((int2)(1, 0)) == 0 && any((int2)(0, INT_MIN)) == 1 && all((int2)(-1, 1)) == 0);
  float2 p = {1, 2}, q = {3, 4}; float2 r = (p.x < q.x) ? p : q; CHECK(r.y == 2);
  DONE;
}
