// check: --arg out=16 --arg in=16:1e30 --global 16 --local 8 --enable conversion-range
// The conversion to bool is a comparison with zero, and has no range.
kernel void nonzero(global int *out, global const float *in) {
    size_t i = get_global_id(0);
    bool any = in[i];
    out[i] = any;
}
