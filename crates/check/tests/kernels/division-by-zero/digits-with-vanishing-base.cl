// check: --arg out=16 --arg in=16:index --global 16 --local 4
// The divisor runs down to zero before the loop ends.
kernel void digit_sums(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int rest = 100 + in[i], sum = 0;
    for (int base = 100; rest >= 0; base /= 10) {
        sum += rest / base; //~ division-by-zero
        rest %= base; //~ division-by-zero
        if (base == 0)
            rest = -1;
    }
    out[i] = sum;
}
