// check: --arg out=8 --arg in=8:3e9 --global 8 --local 8 --enable conversion-range
// As a float, 2147483647 is 2147483648: the clamped value is still one too great.
kernel void clamped(global int *out, global const float *in) {
    size_t i = get_global_id(0);
    float v = clamp(in[i], -2147483648.0f, 2147483647.0f);
    out[i] = convert_int(v); //~ conversion-range
}
