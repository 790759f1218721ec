// Designators that name what has had a value: the later one counts, and a list or a string begins again from zeros.
// run: global=1
// arg: buffer int 32 = zero
// arg: buffer int 4 = -7 2 5 0
// expect: 0 int = 30 1 30 30 0 0 0 0 0 0 3 9 20 1 65535 2 44 -1 -1 1 -1 4

constant int x0[2] = {10, 11}, y0[2] = {20, 21}, z0 = 30;
constant int *constant t1[3] = {[2] = x0, [0] = y0, [2] = &z0};
constant int *constant t2[4] = {[2] = x0, [0] = y0, [2] = 0, [3] = x0 + 1};
struct Q { constant int *p; int v; constant int *q; };
constant struct Q qs[3] = {[1] = {x0, 1, y0}, [0] = {y0, 2, x0}, [1].q = &z0, [1].p = 0};
constant struct { constant int *p, *q; } u1 = {.q = x0, .p = x0, .q = &z0};
struct AB { int a, b; };
constant struct AB c0[2] = {[1] = {1, 2}, [1] = {3}};
constant struct Q c4[2] = {[0] = {x0, 1, y0}, [0] = {&z0}};
struct W { struct AB x; int4 v; char s[4]; };

kernel void k(global int *o, global const int *in) {
  o[0] = *t1[2];
  o[1] = t2[2] == 0;
  o[2] = *qs[1].q;
  o[3] = *u1.q;
  o[4] = c0[1].b;
  o[5] = c4[0].q != 0;
  struct AB c1[2] = {[1] = {1, in[1]}, [1] = {3}};
  o[6] = c1[1].b;
  int c2[2][2] = {[0] = {1, in[1]}, [0] = {3}};
  o[7] = c2[0][1];
  struct W c3 = {{1, in[1]}, (int4)(1, 2, 3, 4), "abc", .x = {5}, .s = "z"};
  o[8] = c3.x.b;
  o[9] = c3.s[2];
  o[10] = c1[1].a;
  struct AB c5[2] = {[1] = {1, 2}, [1].b = 9};
  o[11] = c5[1].b;
  o[12] = *qs[0].p;
  o[13] = c5[1].a;
  // Casts of casts, and truth values as vectors.
  ushort3 u = (ushort3)(bool)in[0];
  o[14] = u.y;
  o[15] = ((int4)(int)2.5f).w;
  o[16] = ((float4)(char)(300)).x;
  bool t = in[1];
  int4 v = t;
  o[17] = v.x;
  o[18] = ((int4)t).z;
  o[19] = ((int4)(t)).z;
  o[20] = (in[0] < 0 ? (int4)t : (int4)5).y;
  o[21] = ((int4)(int4)(1, 2, 3, 4)).w;
}
