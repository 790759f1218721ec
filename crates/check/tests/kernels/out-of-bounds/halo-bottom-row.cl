// check: --arg out=128 --arg in=128:index --global 16x8 --local 8x4
// The Laplacian tests three edges; the row below the last one is read without a test.
kernel void laplace(global float *out, global const float *in) {
    int x = get_global_id(0), y = get_global_id(1);
    int w = get_global_size(0);
    float here = in[y * w + x];
    float left = x > 0 ? in[y * w + x - 1] : here;
    float right = x < w - 1 ? in[y * w + x + 1] : here;
    float up = y > 0 ? in[(y - 1) * w + x] : here;
    float down = in[(y + 1) * w + x]; //~ out-of-bounds
    out[y * w + x] = left + right + up + down - 4.0f * here;
}
