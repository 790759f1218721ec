// check: --arg means=16 --arg lengths=16:index --arg in=32:index --global 16 --local 8
// Only the chosen operand of the conditional operator is evaluated.
kernel void means_of_segments(global int *means, global const int *lengths, global const int *in) {
    size_t i = get_global_id(0);
    int n = lengths[i], sum = 0;
    for (int k = 0; k < n; k++)
        sum += in[i + k];
    means[i] = n ? sum / n : 0;
}
