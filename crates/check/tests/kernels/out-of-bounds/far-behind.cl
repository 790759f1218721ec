// check: --arg a=4:index --arg out=4 --arg k=1073741824 --global 1 --local 1
// Four gigabytes behind a buffer there may be another one.
kernel void pick(global const int *a, global int *out, long k) {
    out[0] = a[k]; //~ out-of-bounds
}
