// check: --arg out=16 --arg in=64:index --global 16 --local 8
// Each component is set on its own, and the last ones in a loop's branch that is always taken.
kernel void polynomials(global float4 *out, global const float *in) {
    size_t i = get_global_id(0);
    float4 v;
    v.x = in[4 * i];
    v.y = in[4 * i + 1];
    for (int k = 0; k < 2; k++)
        if (k == 1)
            v.zw = vload2(0, in + 4 * i + 2);
    out[i] = v * v + v.wzyx;
}
