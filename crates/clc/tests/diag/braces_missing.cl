kernel void first(global int *a) {
    if (a[0]) {
        a[1] = 2;
    a[2] = 3;
}

kernel void second(global int *a) {
    a[0] = 1
}
