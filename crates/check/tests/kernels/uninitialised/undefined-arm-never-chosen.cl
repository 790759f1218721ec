// check: --arg out=32 --arg in=32:index --global 32 --local 8
// The scale is set where it is chosen: both conditions are the same.
kernel void scaled(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int scale;
    bool large = in[i] > 10;
    if (large)
        scale = in[i] / 10;
    int plain = in[i];
    out[i] = large ? plain / scale : plain;
}
