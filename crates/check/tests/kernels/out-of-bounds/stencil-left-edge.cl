// check: --arg out=64 --arg in=64:index --global 64 --local 16
// Only the right edge is tested: work-item 0 reads the element before the first one.
kernel void blur3(global float *out, global const float *in) {
    int i = get_global_id(0);
    int n = get_global_size(0);
    float left = in[i - 1]; //~ out-of-bounds
    float right = i + 1 < n ? in[i + 1] : in[i];
    out[i] = 0.25f * left + 0.5f * in[i] + 0.25f * right;
}
