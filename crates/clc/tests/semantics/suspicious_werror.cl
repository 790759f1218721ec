// options: -Werror
kernel void k(global int *a, int n) {
    int sum, b[4] = {0};
    if (n & 1 == 0);
        a[0] = b[4];
    a[1] = 65536 * 65536;
    for (int i = 0; i < n; i++) sum += a[i];
    a[2] = sum;
}
