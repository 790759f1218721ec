// check: --arg out=384 --arg in=384:index --global 24x16 --local 8x8
// The rows of the result have as many elements as the source has rows, not columns.
kernel void transpose(global float *out, global const float *in) {
    int x = get_global_id(0), y = get_global_id(1);
    int w = get_global_size(0);
    float v = in[y * w + x];
    out[x * w + y] = v; //~ out-of-bounds
}
