// check: --arg out=16 --arg in=16:index --global 16 --local 8 --enable conversion-range
// The gain brings the last values above the greatest uchar.
kernel void brighten(global uchar *out, global const float *in) {
    size_t i = get_global_id(0);
    out[i] = (uchar)(in[i] * 20.0f); //~ conversion-range
}
