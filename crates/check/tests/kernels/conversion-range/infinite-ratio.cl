// check: --arg out=16 --arg in=16:index --global 16 --local 8 --enable conversion-range
// The ratio of the first work-item is infinite.
kernel void ratios(global long *out, global const float *in) {
    size_t i = get_global_id(0);
    float ratio = 100.0f / in[i];
    out[i] = (long)ratio; //~ conversion-range
}
