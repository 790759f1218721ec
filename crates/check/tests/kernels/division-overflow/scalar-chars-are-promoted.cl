// check: --arg out=16 --arg in=16:-128 --arg divisor=-1 --global 16 --local 8
// Scalars of type char are divided as int: the quotient is 128.
kernel void quotients(global int *out, global const char *in, char divisor) {
    size_t i = get_global_id(0);
    out[i] = in[i] / divisor;
}
