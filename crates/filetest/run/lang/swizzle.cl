// Components of vectors: reading, writing, halves, literals.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

kernel void test(global int *out) {
  int4 v = (int4)(1, 2, 3, 4);
  CHECK(v.x == 1 && v.y == 2 && v.z == 3 && v.w == 4);
  CHECK(v.s0 == 1 && v.S3 == 4);
  int2 a = v.zx;
  CHECK(a.x == 3 && a.y == 1);
  v.xw = v.wx;
  CHECK(v.x == 4 && v.w == 1 && v.y == 2 && v.z == 3);
  v.lo = v.hi;
  CHECK(v.x == 3 && v.y == 1 && v.z == 3 && v.w == 1);
  v = (int4)(1, 2, 3, 4);
  CHECK(all(v.even == (int2)(1, 3)) && all(v.odd == (int2)(2, 4)));
  v.odd = (int2)(9, 8);
  CHECK(v.y == 9 && v.w == 8);
  int16 w = (int16)(v, v.xxyy, 5, 6, (int2)(7, 8), (int4)(0));
  CHECK(w.s0 == 1 && w.s4 == 1 && w.s5 == 1 && w.s6 == 9 && w.s8 == 5 && w.s9 == 6 && w.sa == 7 && w.sB == 8 && w.sf == 0);
  CHECK(w.lo.hi.x == 1 && w.hi.lo.odd.y == 8);
  w.sa5 = (int2)(40, 50);
  CHECK(w.sA == 40 && w.s5 == 50);
  w.hi.lo.x = 77;
  CHECK(w.s8 == 77);
  float3 f = (float3)(1.5f);
  CHECK(f.x == 1.5f && f.z == 1.5f);
  f.yz += (float2)(1, 2);
  CHECK(f.y == 2.5f && f.z == 3.5f && f.x == 1.5f);
  f.x++;
  --f.y;
  CHECK(f.x == 2.5f && f.y == 1.5f);
  uchar4 p = (uchar4)(250, 251, 252, 253);
  p += (uchar4)(10);
  CHECK(p.x == 4 && p.w == 7);
  float4 q = (float4)((float2)(1, 2), 3, 4);
  q.wzyx = q;
  CHECK(q.x == 4 && q.y == 3 && q.z == 2 && q.w == 1);
  float3 t = (float3)(1, 2, 3);
  CHECK(t.hi.x == 3 && t.lo.y == 2);
  int4 arr[2] = {(int4)(1), (int4)(2)};
  arr[1].y = 5;
  CHECK(arr[1].x == 2 && arr[1].y == 5 && arr[0].y == 1);
  int4 sel = v.x < 5 ? (int4)(1) : (int4)(2);
  CHECK(sel.w == 1);
  int4 m = (int4)(-1, 0, -1, 0) ? (int4)(1) : (int4)(2);
  CHECK(m.x == 1 && m.y == 2 && m.z == 1 && m.w == 2);
  private int4 *pv = &arr[0];
  pv->zw = (int2)(6, 7);
  CHECK(arr[0].z == 6 && arr[0].w == 7 && (*pv).x == 1);
  DONE;
}
