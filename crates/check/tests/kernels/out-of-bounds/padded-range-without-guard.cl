// check: --arg y=75:1 --arg x=75:index --arg a=2.5 --global 80 --local 16
// The global size is rounded up to whole groups, and nothing stops the last five work-items.
kernel void saxpy(global float *y, global const float *x, float a) {
    size_t i = get_global_id(0);
    y[i] = a * x[i] + y[i]; //~ out-of-bounds
}
