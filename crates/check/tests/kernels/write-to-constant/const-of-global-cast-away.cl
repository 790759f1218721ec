// check: --arg in=32:index --arg flags=32 --global 32 --local 8
// The parameter's const is a promise of this pointer only; the buffer itself may be written.
kernel void negate(global const int *in, global int *flags) {
    size_t i = get_global_id(0);
    global int *p = (global int *)in;
    flags[i] = in[i] > 15;
    p[i] = -in[i];
}
