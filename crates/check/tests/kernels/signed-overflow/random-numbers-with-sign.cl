// check: --arg out=16 --arg in=16:index --global 16 --local 8 --enable signed-overflow
// The generator multiplies signed numbers; its very first product does not fit.
kernel void random_numbers(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int state = in[i] + 10;
    state = state * 1103515245; //~ signed-overflow
    out[i] = state & 0x7fffffff;
}
