// check: --arg out=48 --arg in=51:index --global 48 --local 16
// A filter has three taps for each of its phases; the loop takes a fourth tap from the next phase.
constant float taps[4][3] = {{0.1f, 0.8f, 0.1f}, {0.3f, 0.6f, 0.1f}, {0.1f, 0.6f, 0.3f}, {0.0f, 1.0f, 0.0f}};
kernel void polyphase(global float *out, global const float *in) {
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 4; k++)
        sum += taps[i % 3][k] * in[i + k]; //~ array-index
    out[i] = sum;
}
