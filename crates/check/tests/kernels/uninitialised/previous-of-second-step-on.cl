// check: --arg out=16 --arg in=64:index --global 16 --local 8
// The first step has no previous value, and is the only one that does not use it.
kernel void climbs(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int previous, climb = 0;
    for (int k = 0; k < 4; k++) {
        int v = in[4 * i + k];
        if (k > 0)
            climb += v - previous;
        previous = v;
    }
    out[i] = climb;
}
