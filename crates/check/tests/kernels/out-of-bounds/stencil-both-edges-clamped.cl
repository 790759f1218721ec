// check: --arg out=64 --arg in=64:index --global 64 --local 16
// The neighbours' indices leave the array, but are clamped before they are used.
kernel void blur3(global float *out, global const float *in) {
    int i = get_global_id(0);
    int last = (int)get_global_size(0) - 1;
    float left = in[max(i - 1, 0)];
    float right = in[min(i + 1, last)];
    out[i] = 0.25f * left + 0.5f * in[i] + 0.25f * right;
}
