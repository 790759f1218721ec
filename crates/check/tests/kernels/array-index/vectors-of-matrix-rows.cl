// check: --arg out=16 --arg in=256:index --global 16 --local 8
// Each vload4 reads exactly one row of four.
kernel void row_maxima(global float4 *out, global const float *in) {
    float m[4][4];
    int i = get_global_id(0);
    for (int k = 0; k < 16; k++)
        m[k & 3][k >> 2] = in[16 * i + k];
    float4 most = vload4(0, m[0]);
    for (int r = 1; r < 4; r++)
        most = fmax(most, vload4(0, m[r]));
    out[i] = most;
}
