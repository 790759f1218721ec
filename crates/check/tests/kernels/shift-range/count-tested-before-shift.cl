// check: --arg out=16 --arg in=16:index --global 16 --local 8 --enable shift-range
// Positive and negative counts shift in different directions, and great ones not at all.
kernel void integers(global uint *out, global const float *in) {
    size_t i = get_global_id(0);
    uint bits = as_uint(in[i] * 0.125f);
    int count = (int)(bits >> 23) - 150;
    uint mantissa = (bits & 0x7fffffu) | 0x800000u;
    uint result = 0;
    if (count >= 0 && count < 8)
        result = mantissa << count;
    else if (count < 0 && count > -24)
        result = mantissa >> -count;
    out[i] = result;
}
