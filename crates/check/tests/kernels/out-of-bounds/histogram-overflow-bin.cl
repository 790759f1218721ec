// check: --arg bins=17 --arg in=304:index --global 304 --local 16
// All values that are too great are counted in an extra bin.
kernel void histogram(volatile global int *bins, global const int *in) {
    uint v = in[get_global_id(0)];
    atomic_inc(&bins[min(v >> 4, 16u)]);
}
