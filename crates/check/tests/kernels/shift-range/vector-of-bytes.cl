// check: --arg out=8 --arg in=32:index --arg bits=8 --global 8 --local 8 --enable shift-range
// The elements of a uchar4 have eight bits: shifting them by eight is out of range.
kernel void high_parts(global uchar4 *out, global const uchar *in, uchar bits) {
    size_t i = get_global_id(0);
    uchar4 v = vload4(i, in);
    out[i] = v >> (uchar4)(bits); //~ shift-range
}
