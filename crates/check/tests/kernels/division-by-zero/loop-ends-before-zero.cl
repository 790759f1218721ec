// check: --arg out=16 --arg in=16:index --global 16 --local 4
// The last divisor is 1: the loop's condition is tested after the base has become zero.
kernel void digit_sums(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int rest = 100 + in[i], sum = 0;
    for (int base = 100; base > 0; base /= 10) {
        sum += rest / base;
        rest %= base;
    }
    out[i] = sum;
}
