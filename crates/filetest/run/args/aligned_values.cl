// Values of 64 bytes and structures that hold them: code may rely on their alignment, whatever that of the caller's
// copy is.
// run: global=6 local=3
// arg: buffer float 16 = zero
// arg: value float 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
// arg: value float 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 0.5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
// expect: 0 float = 1.5 2.5 5.5 7.5 9.5 11.5
typedef struct { float16 v; float a; } wide;
kernel void k(global float *out, float16 x, wide y) {
  float16 sum = x + y.v + y.a;
  float list[16];
  vstore16(sum, 0, list);
  size_t i = get_global_id(0);
  out[i] = i == 0 ? sum.s0 : list[i] - (float)(i == 1);
}
