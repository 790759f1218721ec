// check: --arg a=16:index --arg out=16 --global 16 --local 8
// In work-item 0 the unsigned index is 0xffffffff: sixteen gigabytes behind the buffer.
kernel void differences(global const int *a, global int *out) {
    uint i = get_global_id(0);
    out[i] = a[i] - a[i - 1]; //~ out-of-bounds
}
