// check: --arg out=16 --arg in=16:index --global 16 --local 8
// The loops fill the matrix above and below its diagonal.
kernel void norms(global float *out, global const float *in) {
    size_t i = get_global_id(0);
    float m[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < r; c++)
            m[r][c] = m[c][r] = in[i] + r - c;
    float norm = 0.0f;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            norm += m[r][c] * m[r][c];
    out[i] = norm; //~ uninitialised
}
