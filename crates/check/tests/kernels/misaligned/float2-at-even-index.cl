// check: --arg out=16 --arg in=32:index --global 16 --local 8
// Only pairs that begin at an even element are read as a float2.
kernel void slopes(global float *out, global const float *in) {
    int i = get_global_id(0);
    float2 pair = *(global const float2 *)(in + 2 * i);
    out[i] = pair.y - pair.x;
}
