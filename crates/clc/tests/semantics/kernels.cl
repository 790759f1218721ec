// What kernels may take and be.
typedef struct { int a; global int *p; } holds;
typedef struct { int a; bool b; } flags;
kernel int result(global int *out) { return 1; }
kernel void pointers(int *a, global int **b, holds c, flags d) {}
kernel void scalars(bool a, size_t b, event_t c, image2d_t e) {}
kernel void spaces(local int a, global int b) {}
__attribute__((reqd_work_group_size(8, 8))) kernel void two(void) {}
__attribute__((reqd_work_group_size(0, 1, 1))) kernel void zero(void) {}
static kernel void hidden(void) {}
global int counter;
int state = 3;
constant int no_value;
void helper(void) { local int t[4]; }
kernel void f(global int *out, int n) {
  local int t[4] = {0};
  global int g;
  int size[n];
  float big[1 << 22];
  local char huge[1 << 27];
  static int s = 0;
  constant int c = n;
  generic int *gp;
  atomic_int a;
}
int down(int n) { return n > 0 ? down(n - 1) : 0; }
int ping(int n);
int pong(int n) { return ping(n); }
int ping(int n) { return pong(n); }
