struct flexible { int n; float v[]; };
struct two { int n; float v[], w[]; };
struct only { float v[]; };
union either { int n; float v[]; };
struct inside { struct flexible f; int n; };
struct flexible one = {1, {2.0f}};
constant int size = sizeof(struct flexible);
_Static_assert(sizeof(struct flexible) == 4, "");
#define KIND(x) _Generic((x), int: 1, float: 2, float4: 4, global int *: 5, default: 0)
int printf(constant const char *restrict format, ...);
int scan(constant const char *format, ...);
int twice(__attribute__((opencl_global)) int *p) { return *p * 2; }
int local_one(int __attribute__((opencl_local)) *p) { return *p; }
int misplaced(int *p __attribute__((opencl_global)));

kernel void k(global int *a, float4 v, local int *l) {
    a[0] = KIND(1) + KIND(1.0f) + KIND(v) + KIND(a) + KIND((char)1) + KIND('c');
    a[1] = _Generic(a[0], float: 1);
    a[2] = _Generic(a[0], int: 1, int: 2);
    a[3] = _Generic(a[0], default: 1, default: 2);
    a[4] = _Generic(a[0], int: missing);
    a[5] = _Generic(a[0], int: 3, float: missing);
    a[6] = _Generic(a[0], int 3);
    constant char *name = __func__;
    a[7] = sizeof(__func__) + sizeof(__FUNCTION__) + name[0] + __PRETTY_FUNCTION__[0];
    a[8] = twice(a) + local_one(l);
    a[9] = twice(l);
    global struct flexible *f = (global struct flexible *)a;
    f->v[3] = 1.0f;
    printf("%d\n", 1);
}
constant int at_file = sizeof(__func__);
int f(a) int a; { return a + 1; }
