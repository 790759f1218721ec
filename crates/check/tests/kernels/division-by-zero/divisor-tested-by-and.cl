// check: --arg out=16 --arg in=16:index --global 16 --local 8
// The right operand of && is not evaluated if the divisor is zero.
kernel void multiples(global int *out, global const int *in) {
    int i = get_global_id(0);
    int d = i - 8;
    out[i] = d != 0 && in[i] % d == 0;
}
