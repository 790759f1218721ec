// check: --arg out=8 --arg in=8:50000 --global 8 --local 4 --enable signed-overflow
// The factor is converted to long before the multiplication.
kernel void squares(global long *out, global const int *in) {
    size_t i = get_global_id(0);
    out[i] = (long)in[i] * in[i];
}
