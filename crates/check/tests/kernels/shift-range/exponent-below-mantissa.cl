// check: --arg out=16 --arg in=16:index --global 16 --local 8 --enable shift-range
// The count is negative for all numbers below 2 to the power of 23.
kernel void integers(global uint *out, global const float *in) {
    size_t i = get_global_id(0);
    uint bits = as_uint(in[i] + 1.0f);
    int exponent = (int)(bits >> 23) - 127;
    uint mantissa = (bits & 0x7fffffu) | 0x800000u;
    out[i] = mantissa << (exponent - 23); //~ shift-range
}
