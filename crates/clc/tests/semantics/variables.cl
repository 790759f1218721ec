// Wrong use of variables in global memory.
global int fine;
local int tile[4];
private int own;
global int from = fine;
global int *global good = &fine;
global int huge[1 << 25];
constant int *wrong = &fine;
const int fixed = 3;
global int twice = 1;
global int twice = 2;
extern int elsewhere = 4;
constant int none;
generic int any;
kernel void f(global int *out) {
  global int inside;
  static local int l;
  static int good_one;
  fixed = 4;
  good_one = 2;
  case_of: out[0] = fine;
}
kernel void g(int n) {
  static int changing = n;
}
