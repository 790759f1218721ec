#define ADD(a, b) ((a) + (b)
#define TWICE(x) ADD(x, x)
#define STORE(p, v) p[0] = v
kernel void f(global int *a) {
    a[0] = TWICE(3);
    STORE(a, 4)
    a[1] = 2;
    STORE(a, 5 +);
    flaot4 x = TWICE(1));
}
