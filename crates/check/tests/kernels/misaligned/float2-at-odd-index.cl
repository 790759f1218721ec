// check: --arg out=16 --arg in=17:index --global 16 --local 8
// A float2 needs an address that is a multiple of eight; odd elements are at multiples of four only.
kernel void slopes(global float *out, global const float *in) {
    size_t i = get_global_id(0);
    float2 pair = *(global const float2 *)(in + i); //~ misaligned
    out[i] = pair.y - pair.x;
}
