kernel __attribute__((reqd_work_group_size(8, 8, 1))) void ok(global int *a) { }
kernel __attribute__(reqd_work_group_size(8, 8, 1)) void one_paren(global int *a) { }
kernel __attribute__ void none(global int *a) { }
kernel __attribute__((3)) void number(global int *a) { }
typedef float f4 __attribute__((ext_vector_type(4)));
kernel void loops(global f4 *a) {
    __attribute__((opencl_unroll_hint(int)))
    for (int i = 0; i < 4; i++) a[i] = (f4)(1, 2, 3, 4).wzyx;
}
