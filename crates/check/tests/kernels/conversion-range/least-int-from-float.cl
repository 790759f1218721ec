// check: --arg out=8 --arg in=8:-3e9 --global 8 --local 8 --enable conversion-range
// -2147483648 is a float and an int, and the greatest float below 2147483648 is 2147483520.
kernel void clamped(global int *out, global const float *in) {
    size_t i = get_global_id(0);
    float v = clamp(in[i], -2147483648.0f, 2147483520.0f);
    out[i] = convert_int(v) ^ convert_int(clamp(-in[i], -2147483648.0f, 2147483520.0f));
}
