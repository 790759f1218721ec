// check: --arg out=16 --arg in=17:index --global 16 --local 8
// vload2 needs the alignment of a float, not that of a float2.
kernel void slopes(global float *out, global const float *in) {
    size_t i = get_global_id(0);
    float2 pair = vload2(0, in + i);
    out[i] = pair.y - pair.x;
}
