// check: --arg out=32 --arg in=32:index --global 32 --local 8
// Half of a symmetric filter is stored; negative taps use the entry of the positive ones.
constant float half_weights[3] = {0.375f, 0.25f, 0.0625f};
kernel void smooth(global float *out, global const float *in) {
    int i = get_global_id(0);
    int last = get_global_size(0) - 1;
    float sum = 0.0f;
    for (int k = -2; k <= 2; k++)
        sum += half_weights[abs(k)] * in[clamp(i + k, 0, last)];
    out[i] = sum;
}
