// Names that are not there, or there twice.
int total;
constant int size = 4;
constant int size = 5;
struct point { int x, y; };
struct point { int z; };
struct later;
extern constant struct later far;
constant struct later near = {1};
int twice(int a) { return a; }
int twice(int a) { return a; }
float twice(float a) { return a; }
kernel void f(global int *out) {
  int count = 0;
  int count = 1;
  out[0] = cuont + size;
  out[1] = cuont;
  out[2] = get_globl_id(0);
  struct point p;
  p.xx = 1;
  p->x = 1;
  out->x = 1;
  out = size(3);
  out[3] = point;
  later();
  struct later l;
  out[0] = far.x;
  goto nowhere;
here:
here:
  goto here;
  int x = __cl_clz(1);
}
