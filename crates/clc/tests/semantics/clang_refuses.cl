kernel void main(global int *a) { a[0] = 1; }
kernel void k(global int *a) {
    local int x;
    local int *constant L10 = &x;
    a[1] = *L10;
    constant int c = a[0];
}
__attribute__((reqd_work_group_size(8,1,1))) int helper(void) { return 1; }
__attribute__((reqd_work_group_size(8,1,1))) constant int var = 1;
kernel void q(global int2 *a, global char2 *c, float f) {
  a[0] = c[0] ? a[1] : a[2];
  a[1] = f ? a[1] : a[2];
  __attribute__((opencl_unroll_hint(-1))) for (int i = 0; i < 3; i++) a[i] = 1;
}
