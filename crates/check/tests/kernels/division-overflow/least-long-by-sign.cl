// check: --arg out=8 --arg in=8:-9223372036854775808 --arg sign=8:index --global 8 --local 8
// The first divisor is -1, and all numbers are the least ones of their type.
kernel void unsign(global long *out, global const long *in, global const long *sign) {
    size_t i = get_global_id(0);
    long divisor = sign[i] - 1;
    if (divisor != 0)
        out[i] = in[i] / divisor; //~ division-overflow
}
