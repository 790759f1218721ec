kernel void empty(global int *a, int n) {
    if (n > 3);
        a[0] = 1;
    if (n)
        ;
    if (n) ; else a[0] = 2;
    for (int i = 0; i < n; i++);
    {
        a[1] = 2;
    }
    while (a[2]++ < n);
    a[3] = 4;
    while (a[2]++ < n);
        a[3] = 4;
#define NOTHING ;
    if (n > 4) NOTHING
}

kernel void precedence(global int *a, int i) {
    if (i & 1 == 0) a[0] = 1;
    a[1] = i == 3 | 4;
    a[2] = (i == 3) | 4;
    a[3] = i == 3 & i == 4;
    a[4] = i ^ 2 < 3;
    a[5] = i & 1 && i == 0;
}

struct tail { int n; int data[1]; };
struct inner { int data[2]; int n; };

kernel void bounds(global int *a, global struct tail *t, global struct inner *u) {
    int b[4] = {0};
    a[0] = b[4];
    a[1] = b[-1];
    const int k = 7;
    a[2] = b[k];
    int *end = &b[4];
    int *more = &b[5];
    a[3] = t->data[3];
    a[4] = u->data[2];
    a[5] = end > more ? b[3] : 0;
    if (0) a[6] = b[9];
    if (sizeof(int) == 8) a[6] = b[9]; else a[6] = b[8];
    a[7] = 0 && b[9];
    a[8] = 1 || b[9];
    a[9] = 1 ? b[0] : b[9];
    a[10] = sizeof(b[9]);
    int c[2][3];
    c[1][3] = 1;
    2[c][0] = 1;
}

kernel void overflow(global long *a) {
    a[0] = 65536 * 65536;
    a[1] = 2147483647 + 1;
    a[2] = -2147483647 - 1;
    a[3] = 1000 * 60 * 60 * 24 * 365;
    a[4] = 4000000000u * 2u;
    a[5] = 65536L * 65536;
    a[6] = -(-2147483647 - 1);
    a[7] = 9223372036854775807 + 1;
}

char changed(char c);

kernel void conversions(global int *a) {
    char c = 300;
    char d = 200;
    char mask = 0xff, octal = 0377;
    uchar e = -1;
    uchar f = 256;
    ushort g = -40000;
    int i = 0xffffffff;
    int j = 0x1ffffffffL;
    uint k = -1;
    bool b = 2;
    char many[3] = {1, 200, -128};
    c = 128;
    c = (char)300;
    a[0] = c + d + mask + octal + e + f + g + i + j + k + b + many[0] + changed(400);
}

char changed(char c) { return 500 + c * 0; }
