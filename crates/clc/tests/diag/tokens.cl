kernel void f(global int *a) {
    a[0] = 0x;
    a[1] = 12q;
    a[2] = 1.0e;
    a[3] = 99999999999999999999;
    a[4] = 'ab';
    a[5] = '';
    a[6] = '\q';
    a[7] = '\x123';
    a[8] = 1..2;
    a[9] = 3 @ 4;
    a[10] = “5”;
    a[11] = 'x;
    printf("never ends);
    a[12] = 1;
}
