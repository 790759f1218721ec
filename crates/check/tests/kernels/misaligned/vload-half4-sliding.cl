// check: --arg out=16 --arg in=19:1 --global 16 --local 8
// vload_half4, without the a, needs the alignment of one half.
kernel void window_sums(global float *out, global const half *in) {
    size_t i = get_global_id(0);
    float4 v = vload_half4(0, in + i);
    out[i] = v.x + v.y + v.z + v.w;
}
