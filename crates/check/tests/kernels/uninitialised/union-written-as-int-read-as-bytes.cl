// check: --arg out=16 --arg in=16:index --global 16 --local 8
// One member of the union is written and another one is read; all its bytes have values.
union word {
    uint whole;
    uchar4 parts;
};
kernel void swapped(global uint *out, global const uint *in) {
    size_t i = get_global_id(0);
    union word w;
    w.whole = in[i] + 0x01020304u;
    uchar4 reversed = w.parts.wzyx;
    w.parts = reversed;
    out[i] = w.whole;
}
