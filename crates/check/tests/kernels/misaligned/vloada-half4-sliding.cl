// check: --arg out=16 --arg in=19:1 --global 16 --local 8
// vloada_half4 needs a multiple of eight bytes; a window that moves by one half is rarely at one.
kernel void window_sums(global float *out, global const half *in) {
    size_t i = get_global_id(0);
    float4 v = vloada_half4(0, in + i); //~ misaligned
    out[i] = v.x + v.y + v.z + v.w;
}
