// check: --arg out=16 --arg in=16:index --global 16 --local 8 --enable conversion-range
// Only the root of a number that has one is converted.
kernel void roots(global int *out, global const float *in) {
    size_t i = get_global_id(0);
    float root = sqrt(in[i] - 4.0f);
    out[i] = isnan(root) ? -1 : (int)root;
}
