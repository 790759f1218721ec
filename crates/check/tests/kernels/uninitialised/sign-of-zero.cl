// check: --arg out=64 --arg in=64:index --global 64 --local 16
// Neither branch sets the sign of zero, the value of work-item 32.
kernel void signs(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int v = in[i] - 32;
    int sign;
    if (v > 0)
        sign = 1;
    else if (v < 0)
        sign = -1;
    out[i] = sign; //~ uninitialised
}
