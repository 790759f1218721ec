// check: --arg means=16 --arg lengths=16:index --arg in=32:index --global 16 --local 8
// The first segment has no elements, and its mean is taken all the same.
kernel void means_of_segments(global int *means, global const int *lengths, global const int *in) {
    size_t i = get_global_id(0);
    int sum = 0;
    for (int k = 0; k < lengths[i]; k++)
        sum += in[i + k];
    means[i] = sum / lengths[i]; //~ division-by-zero
}
