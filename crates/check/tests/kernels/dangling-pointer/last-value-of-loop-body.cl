// check: --arg out=16 --arg in=64:index --global 16 --local 8
// The variable of the loop's body does not outlive the loop.
kernel void last_even(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int none = -1;
    const int *last = &none;
    for (int k = 0; k < 4; k++) {
        int v = in[4 * i + k];
        if (v % 2 == 0)
            last = &v;
    }
    out[i] = *last; //~ dangling-pointer
}
