// check: --arg out=16 --arg in=64:index --arg from=48 --global 16 --local 8
// The flag is true in rows with a great value, and has no value in the others.
kernel void mark_rows(global int *out, global const int *in, int from) {
    size_t i = get_global_id(0);
    bool great;
    for (int k = 0; k < 4; k++)
        if (in[4 * i + k] >= from)
            great = true;
    if (great) //~ uninitialised
        out[i] = 1;
}
