#define MIN(a, b) ((a) < (b) ? (a) : (b))
__kernal void f(global float *x) {
    int i = get_global_id(0)
    x[i] = MIN(x[i], );
    x[i] = float4(1, 2, 3, 4).x;
    flaot y = 3;
    if (x[i] > 2 {
        x[i] = 08;
    }
    for (int k = 0; k < 4; k++ {
       x[k] = 1;
    }
    int (*fp)(int);
    auto q = 3;
}
struct S { int a : 3; public: int b; };
kernel void g(global int *p) { p[0] = 1; }
