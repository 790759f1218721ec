// check: --arg out=8 --arg in=8:50000 --global 8 --local 4 --enable signed-overflow
// The square of 50000 is above the greatest int.
kernel void squares(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int v = in[i];
    out[i] = v * v; //~ signed-overflow
}
