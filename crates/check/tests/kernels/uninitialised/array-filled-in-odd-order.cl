// check: --arg out=16 --arg in=128:index --global 16 --local 8
// Steps of three modulo eight reach each of the eight elements once.
kernel void permuted(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int order[8];
    for (int k = 0; k < 8; k++)
        order[(3 * k + 5) % 8] = in[8 * i + k];
    int value = 0;
    for (int k = 0; k < 8; k++)
        value = 3 * value + order[k];
    out[i] = value;
}
