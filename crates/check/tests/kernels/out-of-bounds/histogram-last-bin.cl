// check: --arg bins=16 --arg in=272:index --global 272 --local 16
// Values of 256 and above belong to a bin that does not exist.
kernel void histogram(volatile global int *bins, global const int *in) {
    int v = in[get_global_id(0)];
    atomic_inc(&bins[v >> 4]); //~ out-of-bounds
}
