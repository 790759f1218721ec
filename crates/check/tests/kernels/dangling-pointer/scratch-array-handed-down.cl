// check: --arg out=16 --arg in=64:index --global 16 --local 4
// The helper's array is used by functions that it calls, and so before it ends.
int *fill(int *s, global const int *in) {
    for (int k = 0; k < 4; k++)
        s[k] = in[3 - k];
    return s;
}
int reversed_number(global const int *in) {
    int scratch[4];
    const int *s = fill(scratch, in);
    return 1000 * s[0] + s[3];
}
kernel void reversed(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    out[i] = reversed_number(in + 4 * i);
}
