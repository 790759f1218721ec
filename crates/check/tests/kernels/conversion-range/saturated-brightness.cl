// check: --arg out=16 --arg in=64:index --global 16 --local 8 --enable conversion-range
// Conversions that saturate take any number.
kernel void brighten(global uchar4 *out, global const float *in) {
    size_t i = get_global_id(0);
    float4 v = vload4(i, in) * 20.0f - 100.0f;
    out[i] = convert_uchar4_sat_rte(v);
}
