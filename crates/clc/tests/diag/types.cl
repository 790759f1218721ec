kernal void misspelt(global int *a) { }
__kernel void f(__globl float *x, flot4 y, image2d img, unit n) {
    flaot z = 1;
    vec3 v = 2;
    dims *d = 0;
    unsigned float u = 3;
    long long long l;
    short double s;
    global local int *g;
    const k = 4;
    struct point { int x; };
    point p;
    int for = 3;
    int (*callback)(int, int);
    int flags : 3;
    static extern int se;
    int;
    struct { int : 3; int b : 2; } bits;
    MYTYPE(3) m;
    long double ld;
    pipe int pp;
}
UNDEFINED_MACRO(int)
static helper(int x) { return x; }
typedef int (*handler)(int);
