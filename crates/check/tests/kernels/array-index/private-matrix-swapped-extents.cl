// check: --arg out=16 --arg in=192:index --global 16 --local 8
// The matrix has four rows of three; the second pair of loops takes it for three rows of four.
kernel void trace_of_gram(global float *out, global const float *in) {
    float m[4][3];
    int i = get_global_id(0);
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 3; c++)
            m[r][c] = in[12 * i + 3 * r + c];
    float sum = 0.0f;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            sum += m[r][c] * m[r][c]; //~ array-index
    out[i] = sum;
}
