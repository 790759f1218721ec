// check: --arg out=16 --arg in=64:index --global 16 --local 8 --enable shift-range
// A scalar uchar is shifted as an int, which has room for 16 bits more.
kernel void colours(global uint *out, global const uchar *in) {
    size_t i = get_global_id(0);
    uchar r = in[4 * i], g = in[4 * i + 1], b = in[4 * i + 2];
    out[i] = r << 16 | g << 8 | b;
}
