// check: --arg out=16 --arg in=192:index --global 16 --local 8
// Rows and columns are swapped between source and matrix, and so are the extents.
kernel void transposed_sum(global float *out, global const float *in) {
    float m[4][3];
    int i = get_global_id(0);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            m[c][r] = in[12 * i + 4 * r + c];
    float sum = 0.0f;
    for (int c = 0; c < 4; c++)
        sum += m[c][0] * m[c][2];
    out[i] = sum;
}
