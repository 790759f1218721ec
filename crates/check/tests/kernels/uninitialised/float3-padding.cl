// check: --arg out=16 --arg in=48:index --global 16 --local 8
// A float3 has four floats in memory; the fourth has no value, here and in the structure.
struct ray {
    float3 from;
    float3 to;
};
kernel void middles(global float3 *out, global const float *in) {
    size_t i = get_global_id(0);
    struct ray r;
    r.from = vload3(i, in);
    r.to = (float3)(1.0f, 2.0f, 3.0f);
    struct ray copy = r;
    out[i] = 0.5f * (copy.from + copy.to);
}
