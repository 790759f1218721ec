kernel void f(global int *a, int n) {
    if (n > 3)
        a[0] = 1;
        a[1] = 2;
    else
        a[2] = 3;
    for (int i = 0, i < n; i++) a[i] = 0;
    for (int i = 0; i < n; i++
        a[i] = 0;
    while n > 3 { n--; }
    do { n++; } while (n < 4)
    switch (n) {
        case 1 a[0] = 1; break;
        case 2;
        default a[1] = 2;
    }
    return a[0]
    goto;
    if (n) int k = 3;
    a[0] = n ? 1;
    a[0] = (1 + ;
    a[0] += * 3 +;
    a[] = 3;
    a.3 = 4;
    asm("nop");
    int v[2] = { 1, 2
    a[3] = 5;
    f(1, 2,);
    a[4] = ({ int t = 3; t; });
    else a[5] = 6;
    #pragma unroll
    a[6] = 7;
}
