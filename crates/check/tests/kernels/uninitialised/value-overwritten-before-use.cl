// check: --arg out=32 --arg in=32:index --global 32 --local 8
// Work-items below 16 leave the first part without a value, and the second part then sets it for them.
kernel void two_parts(global int *out, global const int *in) {
    int i = get_global_id(0);
    int v;
    if (i >= 16)
        v = in[i] - 16;
    int kept = v;
    if (i < 16)
        kept = in[i];
    out[i] = kept;
}
