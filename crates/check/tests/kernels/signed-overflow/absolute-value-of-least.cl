// check: --arg out=16 --arg in=16:index --arg least=-2147483648 --global 16 --local 8 --enable signed-overflow
// The least int has no counterpart above zero.
kernel void absolute_values(global int *out, global const int *in, int least) {
    size_t i = get_global_id(0);
    int v = in[i] == 5 ? least : in[i] - 8;
    out[i] = v < 0 ? -v : v; //~ signed-overflow
}
