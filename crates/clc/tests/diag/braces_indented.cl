kernel void first(global int *a) {
    for (int i = 0; i < 4; i++) {
        if (a[i]) {
            a[i] = 2;
        a[3] = 3;
    }
    a[1] = 1;
}

kernel void second(global int *a) { a[0] = 1; }
