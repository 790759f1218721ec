// check: --arg out=32 --arg in=32:index --global 32 --local 8
// A filter of five taps, and a loop of six.
constant float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
#define RADIUS 2
kernel void smooth(global float *out, global const float *in) {
    int i = get_global_id(0);
    int last = get_global_size(0) - 1;
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS + 1; k++)
        sum += weights[k + RADIUS] * in[clamp(i + k, 0, last)]; //~ out-of-bounds
    out[i] = sum;
}
