// check: --arg out=16 --arg a=256:index --arg b=256:1 --global 16x16 --local 4x4
// The first product sets the sum, and the others are added.
kernel void multiply(global float *out, global const float *a, global const float *b) {
    int x = get_global_id(0), y = get_global_id(1);
    float sum;
    for (int k = 0; k < 16; k++) {
        float product = a[16 * y + k] * b[16 * k + x];
        sum = k == 0 ? product : sum + product;
    }
    if (x == y)
        out[x] = sum;
}
