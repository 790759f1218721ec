kernel void first(global int *a) {
    a[1] = 2;
}
}
kernel void second(global int *a) { a[0] = (1; }
kernel void third(global int *a) { a[0 = 1; }
kernel void fourth(global int *a) { a[0] = 1;
