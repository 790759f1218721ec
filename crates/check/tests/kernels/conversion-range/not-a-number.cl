// check: --arg out=16 --arg in=16:index --global 16 --local 8 --enable conversion-range
// The root of a negative number is not a number, which no integer type has.
kernel void roots(global int *out, global const float *in) {
    size_t i = get_global_id(0);
    float root = sqrt(in[i] - 4.0f);
    out[i] = (int)root; //~ conversion-range
}
