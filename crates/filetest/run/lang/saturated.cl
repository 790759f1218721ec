// Saturated values compared with each other and with constants, lane by lane.
#define CHECK(c) do { if (!(c)) { out[get_global_id(0)] = __LINE__; return; } } while (0)
#define DONE out[get_global_id(0)] = 0

constant uint pair[2] = { 7, 9 };

// Of two bytes, one way gives constants and the other one what is computed.
char2 chosen(int2 a, int4 b) {
  if (12 < b.x - (int)get_num_groups(2)) return convert_char2_sat(b.wy);
  return ~convert_char2(a.yx) >> ~convert_char2_sat(a.xy);
}

kernel void test(global int *out) {
  int zero = out[get_global_id(0)] + 1;
  uchar16 c = (uchar16)((uchar)(zero + 120)) + (uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  char16 e = convert_char16_sat(c) == (char16)(120, 127, 122, 127, 124, 125, 126, 127, 127, 127, 0, 1, 127, 127, 1, 127);
  CHECK(e.s0 && !e.s1 && e.s2 && !e.s3 && e.s4 && e.s5 && e.s6 && e.s7 && e.s8 && e.s9);
  CHECK(!e.sa && !e.sb && e.sc && e.sd && !e.se && e.sf);
  short8 s = (short8)((short)(zero - 4)) + (short8)(0, 1, 2, 3, 4, 5, 6, 7);
  short8 f = convert_ushort8_sat(s) == (ushort8)(0, 1, 0, 3, 0, 1, 2, 4);
  CHECK(f.s0 && !f.s1 && f.s2 && !f.s3 && f.s4 && f.s5 && f.s6 && !f.s7);
  short8 g = max(s, (short8)(-2)) == (short8)(-2, -2, -2, -1, -2, -2, 2, -2);
  CHECK(g.s0 && g.s1 && g.s2 && g.s3 && !g.s4 && !g.s5 && g.s6 && !g.s7);
  half h = (half)zero;
  CHECK(!isnan(h) && isordered(h, h) && isnan(nan((ushort)zero)) && isunordered(h, nan((ushort)zero)));
  CHECK((min(s.s0, (short)-4) == -4) && (min(s.s1, (short)-4) == -4) && (max(s.s7, (short)3) == 3));
  // What is below zero is not the bound above.
  int4 below = (int4)(-5, -256, INT_MIN, 255) + zero, bound = (int4)(255, 3, INT_MIN, 255) + zero;
  int4 i = convert_int4(convert_uchar4_sat(below)) == 255;
  CHECK(!i.x && !i.y && !i.z && i.w);
  i = max(min(below, bound), 0) == bound;
  CHECK(!i.x && !i.y && !i.z && i.w);
  i = max(max(below, -bound), 0) == -bound;
  CHECK(!i.x && !i.y && !i.z && !i.w);
  char2 way = chosen((int2)(0x7fff, 13), convert_int4_sat((float4)(1.6875f, 1.125f, 1.6875f, 1.125f)));
  CHECK(pair[way.y & 1] == 7 && way.x == -14);
  DONE;
}
