// check: --arg out=16 --arg in=16:100000 --global 16 --local 8 --enable conversion-range
// Conversions between integers drop bits, and are no conversions of floats.
kernel void low_parts(global short *out, global const int *in) {
    size_t i = get_global_id(0);
    int v = in[i] + (int)i;
    out[i] = (short)v + (char)v;
}
