// check: --arg out=32 --arg in=32:index --global 32 --local 8
// select evaluates both arguments, and gives the defined one.
kernel void clipped(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int v = in[i];
    int excess;
    if (v > 20)
        excess = v - 20;
    int result = select(v, 20 + excess / 2, v > 20);
    out[i] = result;
}
