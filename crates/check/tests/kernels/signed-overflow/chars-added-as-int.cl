// check: --arg out=16 --arg in=16:120 --global 16 --local 8 --enable signed-overflow
// Scalars of type char are added as int; the conversion back to char is no overflow.
kernel void doubled(global char *out, global const char *in) {
    size_t i = get_global_id(0);
    char v = in[i];
    v += v;
    v++;
    out[i] = v;
}
