// check: --arg out=16 --arg in=64:1 --global 16 --local 8
// vloada_half3 reads three halves, but its index counts in steps of four.
kernel void lengths(global float *out, global const half *in) {
    size_t i = get_global_id(0);
    float3 v = vloada_half3(i, in);
    out[i] = dot(v, v);
}
