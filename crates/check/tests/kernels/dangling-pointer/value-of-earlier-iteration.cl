// check: --arg out=16 --arg in=64:index --global 16 --local 8
// Each iteration has a variable v of its own: that of the iteration before has ended.
kernel void climbs(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int zero = 0, sum = 0;
    const int *previous = &zero;
    for (int k = 0; k < 4; k++) {
        int v = in[4 * i + k];
        sum += abs(v - *previous); //~? dangling-pointer
        previous = &v;
    }
    out[i] = sum;
}
