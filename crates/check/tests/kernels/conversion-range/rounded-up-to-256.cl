// check: --arg out=16 --arg in=64:255.75 --global 16 --local 8 --enable conversion-range
// The value is below 256, but rounds to it.
kernel void quantise(global uchar4 *out, global const float *in) {
    size_t i = get_global_id(0);
    float4 v = vload4(i, in);
    out[i] = convert_uchar4_rte(v); //~ conversion-range
}
