// check: --arg out=16 --arg in=16:index --global 16 --local 8 --enable conversion-range
// Fractions are cut off: numbers above -1 become 0, and numbers below 256 become 255.
kernel void quantise(global uchar *out, global const float *in) {
    size_t i = get_global_id(0);
    float v = i % 2 == 0 ? -0.75f : 255.75f;
    out[i] = (uchar)v;
}
